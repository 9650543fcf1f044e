use std::collections::HashSet;

use super::*;

#[test]
fn no_two_kinds_share_a_word_a_letter_or_a_key() {
    let mut seen = HashSet::new();
    for kind in Kind::ALL {
        let KindInfo { word, letter, made_by, keys, .. } = kind.info();
        assert_eq!(Kind::of_word(word), Some(*kind));
        for taken in made_by.iter().chain(*keys).chain([word]).map(|taken| (*taken).to_owned()) {
            assert!(seen.insert(taken.clone()), "{taken}");
        }
        assert!(seen.insert(letter.to_string()), "{letter}");
    }
}

#[test]
fn a_kind_is_written_as_its_word_and_read_back() {
    for kind in Kind::ALL {
        let written = serde_json::to_string(kind).unwrap();
        assert_eq!(written, format!("\"{}\"", kind.info().word));
        assert_eq!(serde_json::from_str::<Kind>(&written).unwrap(), *kind);
    }
    assert!(serde_json::from_str::<Kind>("\"local_dream\"").is_err());
}

#[test]
fn what_makes_a_task_is_what_makes_one_of_some_kind() {
    let by_kind: HashSet<&str> = Kind::ALL.iter().flat_map(|kind| kind.info().made_by).copied().collect();
    assert_eq!(crate::syntax::task::MAKING.iter().copied().collect::<HashSet<_>>(), by_kind);
}
