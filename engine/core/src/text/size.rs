//! Numbers of bytes for people.

/// Writes a number of bytes: whole mebibytes as such, everything else exactly.
pub fn format_size(bytes: usize) -> String {
    const MIB: usize = 1 << 20;
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        bytes => format!("{bytes} bytes"),
    }
}
