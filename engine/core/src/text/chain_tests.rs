use std::error::Error;

use super::{chain, chain_in_words};

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("can't read `{0}`")]
    Read(&'static str, #[source] Box<Trouble>),
    #[error("the disk says: {0}")]
    Disk(#[source] Box<Trouble>),
    #[error("gone")]
    Gone,
}

fn gone() -> Box<Trouble> {
    Box::new(Trouble::Gone)
}

#[test]
fn every_cause_is_said_once() {
    assert_eq!(chain(&Trouble::Gone), "gone");
    assert_eq!(chain(&Trouble::Read("a", gone())), "can't read `a`: gone");
    let disk = Trouble::Read("a", Box::new(Trouble::Disk(gone())));
    assert_eq!(chain(&disk), "can't read `a`: the disk says: gone");
}

#[test]
fn causes_can_have_other_words() {
    let words = |error: &(dyn Error + 'static)| error.to_string().replace("gone", "not there");
    assert_eq!(chain_in_words(&Trouble::Read("a", gone()), words), "can't read `a`: not there");
}
