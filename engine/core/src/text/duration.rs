//! Lengths of time as people write them: `500ms 2s 5m 1h 1d`, `1h30m`.

use std::time::Duration;

/// The longest length that a plan may ask for; past it arithmetic on time could overflow.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

const UNITS: [(&str, f64); 5] = [("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001)];

/// Reads a length of time: one part, or several from the largest unit down. The error says what is wrong as a fragment that
/// fits after "invalid length of time: ".
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    if text.starts_with('-') {
        return Err("it is negative");
    }
    let (mut rest, mut seconds, mut largest) = (text, 0.0, 0);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| "it does not begin with a number")?;
        if after.is_empty() {
            return Err("it has no unit; write for example `30s` or `5m`");
        }
        let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        let Some(at) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err("its unit is not one of ms, s, m, h, d");
        };
        if at < largest {
            return Err("its units don't go from large to small, each once, as in `1h30m`");
        }
        seconds += number * UNITS[at].1;
        (rest, largest) = (next, at + 1);
        if rest.is_empty() {
            break;
        }
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(length) if length <= LONGEST => Ok(length),
        _ => Err("it is longer than 366 days"),
    }
}

/// Writes a length of time for people: `820ms`, `4.2s`, `3m05s`, `2h04m`.
pub fn format_duration(length: Duration) -> String {
    let ms = length.as_millis();
    let secs = length.as_secs();
    match secs {
        0 => format!("{ms}ms"),
        1..60 => format!("{}.{}s", secs, ms % 1000 / 100),
        60..3600 => format!("{}m{:02}s", secs / 60, secs % 60),
        _ => format!("{}h{:02}m", secs / 3600, secs % 3600 / 60),
    }
}

#[cfg(test)]
#[path = "duration_tests.rs"]
mod tests;
