use std::io::Write;

use super::*;

#[test]
fn what_is_new_is_read_once_and_only_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = LogReader::new(folder.path());
    assert_eq!(reader.read_new().unwrap(), []);
    let mut file = File::create(folder.path().join(WIRE)).unwrap();
    let turns = |lines: Vec<Logged>| -> Vec<u32> {
        let turn = |logged: &Logged| match logged.line {
            LogLine::RequestBegan { turn } => turn,
            _ => 0,
        };
        lines.iter().map(turn).collect()
    };
    write!(file, "{{\"at\":1,\"ev\":\"request_began\",\"turn\":1}}\n{{\"at\":2,\"ev\":\"request_").unwrap();
    assert_eq!(turns(reader.read_new().unwrap()), [1]);
    assert_eq!(reader.read_new().unwrap(), []);
    write!(file, "began\",\"turn\":2}}\nnot a line of ours\n").unwrap();
    assert_eq!(turns(reader.read_new().unwrap()), [2]);
    assert_eq!(reader.read_new().unwrap(), []);
}

#[test]
fn a_folder_of_an_earlier_version_is_told_by_its_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        WIRE,
        "{\"at\":1,\"turn\":1,\"status\":200,\"ms\":5,\"usage\":{\"turns\":0,\"tool_uses\":0,\"input_tokens\":1,\
         \"output_tokens\":1,\"cache_read_tokens\":0,\"cache_write_tokens\":0}}\n\
         {\"at\":2,\"turn\":2,\"status\":400,\"ms\":5,\"error\":\"no\"}\n",
    );
    write("system.md", "You work.");
    write(
        "context.jsonl",
        "{\"item\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]}}\n\
         {\"item\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"so\"}]}}\n",
    );
    let mut teller = flow_core::converse::Teller::default();
    let told: String =
        conversation_log(folder.path()).unwrap().iter().map(|line| teller.line(line)).collect();
    assert_eq!(told, "prompt  go\nsays    so\nmodel   answered 400: no\n");
}
