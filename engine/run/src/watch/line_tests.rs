use super::*;

#[test]
fn the_telling_output_is_standard_error_unless_it_is_empty() {
    let slice = |len| Some(OutputSlice::new("f", 0, len));
    let mut outcome = Outcome::failed(Reason::ExitCode, "");
    assert_eq!(telling_output(&outcome), None);
    outcome.stdout = slice(3);
    outcome.stderr = slice(0);
    assert_eq!(telling_output(&outcome).map(|slice| slice.len), Some(3));
    outcome.stderr = slice(5);
    assert_eq!(telling_output(&outcome).map(|slice| slice.len), Some(5));
}
