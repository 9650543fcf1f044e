use super::super::testing::Place;
use super::*;

fn check(place: &Place, name: &str, code: Code, message: &str, help: Option<&str>) {
    let finding = read_source(&place.top.join("p").join(name), 100, name).unwrap_err();
    assert_eq!((finding.code, finding.message.as_str(), finding.help.as_deref()), (code, message, help));
}

#[test]
fn a_file_is_read_under_the_name_it_is_given() {
    let place = Place::new(&["p/plan.yaml"]);
    let file = read_source(&place.top.join("p/plan.yaml"), 100, "plan.yaml").unwrap();
    assert_eq!(*file, SourceFile::new("plan.yaml", "# p/plan.yaml\n"));
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let place = Place::new(&["p/plan.yaml", "p/dir/a-list.yaml", "p/empty/x.yaml"]);
    place.write("p/dir/other.yaml", "flow: 1\n");
    let help = Some("did you mean `plan.yaml`?");
    check(&place, "plam.yaml", Code::Unreadable, "can't read `plam.yaml`: no such file", help);
    check(&place, "zzz", Code::Unreadable, "can't read `zzz`: no such file", None);
    check(&place, "-", Code::Unreadable, "can't read `-`: no such file", None);
    let help = Some("name a file in it, such as `dir/other.yaml`");
    check(&place, "dir", Code::Unreadable, "can't read `dir`: it is a folder", help);
    check(&place, "empty/", Code::Unreadable, "can't read `empty/`: it is a folder", None);
    check(&place, "/dev/zero", Code::Unreadable, "can't read `/dev/zero`: it is no regular file", None);
    let pipe = place.top.join("p/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    check(&place, "pipe", Code::Unreadable, "can't read `pipe`: it is no regular file", None);
    std::os::unix::fs::symlink("loop.yaml", place.top.join("p/loop.yaml")).unwrap();
    let finding = read_source(&place.top.join("p/loop.yaml"), 100, "loop.yaml").unwrap_err();
    assert!(finding.message.starts_with("can't read `loop.yaml`: too many"), "{}", finding.message);
    assert!(!finding.message.contains("os error"), "{}", finding.message);
}

#[test]
fn size_and_encoding_are_checked_before_anything_is_parsed() {
    let place = Place::new(&[]);
    place.write("p/large", &"x".repeat(101));
    place.write("p/exact", &"x".repeat(100));
    place.write("p/nul", "a\0b");
    check(
        &place,
        "large",
        Code::TooLarge,
        "`large` has 101 bytes, more than the 100 bytes it may have",
        None,
    );
    assert!(read_source(&place.top.join("p/exact"), 100, "exact").is_ok());
    assert_eq!(read_source(&place.top.join("p/nul"), 100, "nul").unwrap_err().code, Code::NotText);
    std::fs::write(place.top.join("p/bytes"), [b'a', 0xff]).unwrap();
    assert_eq!(read_source(&place.top.join("p/bytes"), 100, "bytes").unwrap_err().code, Code::NotText);
    // The system says 0 bytes, and there are more.
    let finding = read_source(Path::new("/proc/self/smaps"), 100, "smaps").unwrap_err();
    assert_eq!(finding.code, Code::TooLarge);
}
