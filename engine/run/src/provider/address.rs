//! Which places on the network a provider may be at.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use flow_core::model::SettingsLayer;
use reqwest::Url;

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Public,
    Loopback,
    Private,
    /// Where no provider is: link-local (metadata services of clouds among them), unspecified, multicast.
    Closed,
}

/// Which addresses a provider's name may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public ones only.
    Public,
    /// This machine too.
    Loopback,
    /// Private networks too.
    Private,
}

impl Reach {
    /// Whether an address is among them.
    pub(super) fn allows(self, address: IpAddr) -> bool {
        match place(address) {
            Place::Public => true,
            Place::Loopback => self != Reach::Public,
            Place::Private => self == Reach::Private,
            Place::Closed => false,
        }
    }
}

/// A `base_url` that requests may go to.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) url: Url,
    pub(super) host: String,
    pub(super) reach: Reach,
    /// Whether it is written as an address of this machine or its network, so that no proxy can reach it.
    pub(super) is_local: bool,
}

/// Judges a `base_url`. The error says what is wrong and what to do.
pub(super) fn judge(text: &str, allow_local: bool, layer: SettingsLayer) -> Result<Base, String> {
    let url = Url::parse(text).map_err(|error| format!("`{}` is no URL: {error}", without_secrets(text)))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or password; put the key into `api_key_env`".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`{text}` has a query or fragment"));
    }
    let Some(host) =
        url.host_str().map(|host| host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase())
    else {
        return Err(format!("`{text}` names no host"));
    };
    let reach = match (allow_local, layer) {
        (false, _) => Reach::Public,
        // Text that came with a repository may name a server beside it, but not look around in the network.
        (true, SettingsLayer::Repository) => Reach::Loopback,
        (true, SettingsLayer::User | SettingsLayer::Flag | SettingsLayer::Policy) => Reach::Private,
    };
    let place = match host.parse::<IpAddr>() {
        Ok(address) => place(address),
        Err(_) if host == "localhost" || host.ends_with(".localhost") => Place::Loopback,
        Err(_) => Place::Public,
    };
    match place {
        Place::Closed => return Err(format!("`{host}` is no place for a provider")),
        Place::Loopback if reach == Reach::Public => {
            return Err(format!(
                "`{host}` is this machine; set `allow_local = true` beside it if it is meant"
            ));
        }
        Place::Private if reach == Reach::Public => {
            return Err(format!(
                "`{host}` is a private address; set `allow_local = true` beside it if it is meant"
            ));
        }
        Place::Private if reach == Reach::Loopback => {
            return Err(format!("`{host}` is a private address, which only a user's own flow.toml may name"));
        }
        Place::Public | Place::Loopback | Place::Private => {}
    }
    let is_local = place != Place::Public;
    match url.scheme() {
        "https" => {}
        "http" if is_local => {}
        "http" => return Err(format!("`{host}` must be reached over https")),
        scheme => return Err(format!("`{scheme}` is no scheme for it; use https")),
    }
    Ok(Base { url, host, reach, is_local })
}

/// What stands before an `@` may be a password.
fn without_secrets(text: &str) -> &str {
    text.rsplit('@').next().unwrap_or_default()
}

fn place(address: IpAddr) -> Place {
    match address.to_canonical() {
        IpAddr::V4(address) => place_v4(address),
        IpAddr::V6(address) => place_v6(address),
    }
}

fn place_v4(address: Ipv4Addr) -> Place {
    let [a, b, ..] = address.octets();
    if address.is_loopback() {
        Place::Loopback
    } else if address.is_private() || (a == 100 && (64..128).contains(&b)) {
        Place::Private
    } else if address.is_link_local() || a == 0 || a >= 224 {
        Place::Closed
    } else {
        Place::Public
    }
}

fn place_v6(address: Ipv6Addr) -> Place {
    let segments = address.segments();
    if address.is_loopback() {
        Place::Loopback
    } else if address.is_unspecified() || address.is_multicast() || segments[0] & 0xffc0 == 0xfe80 {
        Place::Closed
    } else if segments[0] & 0xfe00 == 0xfc00 {
        Place::Private
    } else if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] || segments[0] == 0x2002 {
        // An IPv4 address in the clothes of IPv6 (NAT64, 6to4) is judged as what it is.
        let (high, low) =
            if segments[0] == 0x2002 { (segments[1], segments[2]) } else { (segments[6], segments[7]) };
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        place_v4(Ipv4Addr::new(a, b, c, d))
    } else {
        Place::Public
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
