//! What a person sees, whole: commands and all that they say, compared with what was looked at once.

use super::Flow;

/// A terminal session: each command with its output, as text.
pub struct Transcript<'a> {
    flow: &'a Flow,
    text: String,
}

impl<'a> Transcript<'a> {
    pub fn new(flow: &'a Flow) -> Self {
        Transcript { flow, text: String::new() }
    }

    /// Runs the program and takes down what it says and its exit code.
    pub fn run(&mut self, args: &[&str]) -> &mut Self {
        let ran = self.flow.run(args);
        self.text.push_str(&format!("$ flow {}\n", args.join(" ")));
        match args {
            ["status"] | ["status", "latest"] => self.block(&loosely(&ran.stdout)),
            _ => self.block(&ran.stdout),
        }
        if !ran.stderr.is_empty() {
            self.text.push_str("--- standard error\n");
            self.block(&ran.stderr);
        }
        let code = ran.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        self.text.push_str(&format!("--- exit code {code}\n\n"));
        self
    }

    /// Shows a file of the working folder.
    pub fn file(&mut self, path: &str) -> &mut Self {
        self.text.push_str(&format!("$ cat {path}\n"));
        let text = self.flow.read(path);
        self.block(&text);
        self.text.push('\n');
        self
    }

    fn block(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push_str("(no newline)\n");
        }
    }

    /// Compares all of it with the snapshot of that name, less what differs from run to run: places, times, names that are
    /// drawn by lot.
    #[track_caller]
    pub fn is(&self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_snapshot_path("../snapshots");
        let root = self.flow.dir().parent().unwrap().display().to_string();
        settings.add_filter(&root, "ROOT");
        for (pattern, stands_for) in FILTERS {
            settings.add_filter(pattern, *stands_for);
        }
        settings.bind(|| insta::assert_snapshot!(name, self.text));
    }
}

/// A table whose columns are as wide as its times, and what is left of the line for the last one: cells two blanks apart.
fn loosely(table: &str) -> String {
    let line = |line: &str| {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let cells = cells.map(|cell| match cell.char_indices().nth(30) {
            Some((end, _)) => format!("{}…", &cell[..end]),
            None => cell.to_owned(),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    table.lines().map(line).collect()
}

/// What differs from run to run, in this order.
const FILTERS: &[(&str, &str)] = &[
    // What was sent on the way for its length alone.
    (r"0{1000,}", "0..."),
    (r"\b\d{8}-\d{6}-[0-9a-z]{6}\b", "RUN"),
    (r"/worktrees/work-[0-9a-f]{12}\b", "/worktrees/work-HASH"),
    (r"\b[0-9a-f]{40}\b", "COMMIT"),
    (r" at [0-9a-f]{12}:", " at COMMIT:"),
    (r"\ba[0-9a-f]{16}\b", "AGENT"),
    // The journal's version, a run's lot, and what the machine is.
    (r#""v":\d+"#, r#""v":V"#),
    (r#"("seed":)\d+"#, "${1}SEED"),
    (r"git version [\w. ()-]+", "git version GIT"),
    (r"\d+ MiB free", "ROOM MiB free"),
    (r"Platform: \w+", "Platform: PLATFORM"),
    (r"Date: \d{4}-\d\d-\d\d", "Date: DATE"),
    // Moments: of the journal, of events, of JSON.
    (r#"("(?:at|started|ended|due|until)": ?)\d{13}\b"#, "${1}WHEN"),
    (r"(?m)^ *\d+\.\d{3}  ", "  WHEN  "),
    // Lengths, and the blanks that line them up.
    (r#"("(?:[a-z]+_)?(?:ms|duration|elapsed)": ?)\d+(?:\.\d+)?"#, "${1}LONG"),
    (r" *\b(?:\d+ms|\d+\.\ds|\d+m\d\ds|\d+h\d\dm)\b", " LONG"),
    (r"<duration_ms>\d+<", "<duration_ms>LONG<"),
    (r#"\b(time|timestamp)="[^"]*""#, r#"$1="LONG""#),
    (r"\b(process|pid) \d+", "$1 PID"),
];
