use super::*;

#[test]
fn the_program_decides_the_family() {
    let of = |text: &str| ShellFamily::of(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    for (words, family) in [
        ("bash --noprofile --norc -eo pipefail -c", Some(ShellFamily::Bash)),
        ("/bin/sh -e -c", Some(ShellFamily::Sh)),
        ("dash -c", Some(ShellFamily::Sh)),
        ("busybox sh -c", Some(ShellFamily::Sh)),
        ("zsh -c", Some(ShellFamily::Zsh)),
        ("mksh -c", Some(ShellFamily::Ksh)),
        ("/usr/bin/env LANG=C bash -c", Some(ShellFamily::Bash)),
        ("python3 -c", None),
        ("node -e", None),
        ("fish -c", None),
        ("busybox awk", None),
        ("", None),
    ] {
        assert_eq!(of(words), family, "{words}");
    }
    assert_eq!(ShellFamily::of(&[]), None);
}
