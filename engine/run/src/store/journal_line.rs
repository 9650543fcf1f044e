//! One event as a line: its JSON object, with a checksum of all that stands before it as the last field.

use flow_core::event::{Entry, VERSION};

/// The tail of a line without its newline: `,"crc":"0123abcd"}`.
const TAIL: usize = FIELD.len() + 8 + END.len();
const FIELD: &[u8] = b",\"crc\":\"";
const END: &[u8] = b"\"}";

/// A line's own number begins before this place: `{"v":1,"seq":`.
const OWN_NUMBER: usize = 13;

/// What is wrong with a line that is whole and as it was written.
#[derive(Debug)]
pub(super) enum LineError {
    /// The checksum doesn't fit: torn or changed.
    Damaged,
    /// A newer flow wrote it.
    Newer(u32),
    /// It is no event that we know.
    NoEvent(serde_json::Error),
}

/// Adds an event to a buffer as a line.
pub(super) fn write(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = out.len();
    serde_json::to_writer(&mut *out, entry)?;
    // The object's closing brace makes room for its last field.
    out.pop();
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(FIELD);
    out.extend_from_slice(format!("{crc:08x}").as_bytes());
    out.extend_from_slice(END);
    out.push(b'\n');
    Ok(())
}

/// Reads a line, its newline included.
pub(super) fn read(line: &[u8]) -> Result<Entry, LineError> {
    let line = line.strip_suffix(b"\n").ok_or(LineError::Damaged)?;
    if !is_whole(line) {
        return Err(LineError::Damaged);
    }
    match serde_json::from_slice::<Entry>(line) {
        Ok(entry) if entry.v <= VERSION => Ok(entry),
        Ok(entry) => Err(LineError::Newer(entry.v)),
        Err(error) => match serde_json::from_slice::<Version>(line) {
            Ok(Version { v }) if v > VERSION => Err(LineError::Newer(v)),
            _ => Err(LineError::NoEvent(error)),
        },
    }
}

/// The one field that every version has.
#[derive(serde::Deserialize)]
struct Version {
    v: u32,
}

/// Whether a line without its newline ends with its own checksum.
fn is_whole(line: &[u8]) -> bool {
    let Some((head, tail)) = line.len().checked_sub(TAIL).map(|at| line.split_at(at)) else { return false };
    tail.strip_prefix(FIELD).and_then(|tail| tail.strip_suffix(END)).is_some_and(|hex| {
        let crc = crc32fast::hash(head);
        hex == format!("{crc:08x}").as_bytes()
    })
}

/// Whether a damaged line is more than a write that was cut short: it begins with a whole line, or the event after the
/// one with number `seq` begins inside it. Then an accepted event is among what was damaged.
pub(super) fn hides_an_event(damaged: &[u8], seq: u64) -> bool {
    // Past the line's own number, which the damage may have turned into the next.
    let rest = damaged.get(OWN_NUMBER..).unwrap_or_default();
    begins_with_a_whole_line(damaged) || contains(rest, format!(",\"seq\":{},\"at\":", seq + 1).as_bytes())
}

fn begins_with_a_whole_line(damaged: &[u8]) -> bool {
    let ends = damaged.windows(END.len()).enumerate().filter(|(_, window)| *window == END);
    // A candidate must carry the field in its place, so a checksum is rarely computed in vain.
    let mut candidates = ends.map(|(at, _)| &damaged[..at + END.len()]).filter(|head| {
        head.len() >= TAIL && head[head.len() - TAIL..].starts_with(FIELD) && head.len() < damaged.len()
    });
    candidates.any(is_whole)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
