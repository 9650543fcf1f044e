//! Large numbers as people read them.

/// A count that fits anywhere: `812`, `4.2k`, `31k`, `1.2M`.
pub fn format_count(number: u64) -> String {
    let short = |unit: u64, letter: char| match number / unit {
        whole @ 0..10 => format!("{whole}.{}{letter}", number % unit * 10 / unit),
        whole => format!("{whole}{letter}"),
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => short(1_000, 'k'),
        1_000_000..1_000_000_000 => short(1_000_000, 'M'),
        _ => short(1_000_000_000, 'G'),
    }
}

/// `31k tokens + 120k cached`: what a provider had cached costs a tenth or so, and stands apart.
pub fn format_tokens(fresh: u64, cached: u64) -> String {
    let tokens = format!("{} tokens", format_count(fresh));
    if cached == 0 { tokens } else { format!("{tokens} + {} cached", format_count(cached)) }
}

#[cfg(test)]
#[path = "count_tests.rs"]
mod tests;
