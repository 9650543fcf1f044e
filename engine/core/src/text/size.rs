//! Numbers for people.

/// Writes a number of bytes: whole mebibytes as such, everything else exactly.
pub fn format_size(bytes: usize) -> String {
    const MIB: usize = 1 << 20;
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes => format!("{bytes} bytes"),
    }
}

/// "12.3k": a count that fits anywhere.
pub fn format_count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}
