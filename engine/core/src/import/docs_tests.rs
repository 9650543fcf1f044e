use super::native::{FLOW, KEYS};
use crate::testing::{AGENTS, same, tables};

#[test]
fn every_key_of_an_agent_file_has_a_row() {
    let tables = tables(AGENTS, "## Keys");
    let names = |table: usize| -> Vec<String> {
        let cells = tables[table].iter().map(|row| row[0].as_str());
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
    };
    same(names(0), KEYS.iter().map(|field| field.name));
    same(names(1), FLOW.iter().copied());
}
