use super::{Digest, OutputSlice};

#[test]
fn a_slice_of_an_older_journal_has_no_hash_and_is_written_without_one() {
    let old = r#"{"file":"out/0.out","start":7,"len":5}"#;
    let slice: OutputSlice = serde_json::from_str(old).unwrap();
    assert_eq!(slice, OutputSlice::new("out/0.out", 7, 5));
    assert_eq!(serde_json::to_string(&slice).unwrap(), old);
}

#[test]
fn a_hash_is_read_as_it_was_written_and_nothing_else_is_one() {
    let slice = OutputSlice::new("f", 0, 2).with_hash(Digest::of(b"hi"));
    let json = serde_json::to_string(&slice).unwrap();
    assert_eq!(json, r#"{"file":"f","start":0,"len":2,"hash":"85052e9aab1b67b6622d94a08441b09f"}"#);
    assert_eq!(serde_json::from_str::<OutputSlice>(&json).unwrap(), slice);
    for no in [
        "",
        "85652ac3",
        "85652ac30726a9e7f55ccae0e9a2a9e",
        "85652ac30726a9e7f55ccae0e9a2a9eg",
        "é5652ac30726a9e7f55ccae0e9a2a9e",
    ] {
        assert!(no.parse::<Digest>().is_err(), "{no}");
    }
    assert_ne!(Digest::of(b"hi"), Digest::of(b"ho"));
}
