//! What a call is about, as far as rules with a specifier can tell calls apart.

use std::path::Path;

use super::command::Part;

/// What a call is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    /// A file or folder.
    Path(&'a Path),
    /// One command of a shell text.
    Part(&'a Part),
    /// What it names: an agent, a skill.
    Name(&'a str),
    /// The host that it speaks with.
    Host(&'a str),
    /// Something that can't be read for certain: a shell text, a path, an address.
    Unclear,
    /// A call that no specifier speaks of.
    Plain,
}

/// Whether a specifier that lists names, such as `worker, researcher`, holds this one.
pub(super) fn lists(spec: &str, name: &str) -> bool {
    spec.split(',').any(|listed| listed.trim() == name)
}

/// Whether a specifier such as `domain:example.com` is about this host. `None`: it is about no host at all.
pub(super) fn is_domain(spec: &str, host: &str) -> Option<bool> {
    let domain = spec.trim().strip_prefix("domain:")?;
    Some(domain.trim().eq_ignore_ascii_case(host))
}

/// The host of a web address. `None` for all that a reader of addresses could take in another way than this one.
pub(super) fn host(address: &str) -> Option<&str> {
    if !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let authority = rest.split(['/', '?', '#', '\\']).next().filter(|_| is_web)?;
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let host = host.strip_suffix('.').unwrap_or(host);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_plain =
        !host.is_empty() && host.bytes().all(plain) && port.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then_some(host)
}

#[cfg(test)]
#[path = "subject_tests.rs"]
mod tests;
