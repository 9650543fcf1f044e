use super::*;

/// As much of a terminal as a frame makes use of; it has rows without end.
struct Terminal {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    columns: usize,
}

impl Terminal {
    fn new(columns: usize) -> Self {
        Terminal { rows: vec![Vec::new()], row: 0, column: 0, columns }
    }

    fn write(&mut self, text: &str) {
        let text = &text.replace(TOGETHER, "").replace(SHOWN, "");
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\n' => (self.row, self.column) = (self.row + 1, 0),
                '\r' => self.column = 0,
                '\x1b' => {
                    assert_eq!(rest.next(), Some('['));
                    let mut number = String::new();
                    let letter = rest.by_ref().find(|c| match c.is_ascii_digit() {
                        true => {
                            number.push(*c);
                            false
                        }
                        false => true,
                    });
                    self.obey(letter, number.parse().unwrap_or(1), text);
                }
                c => self.put(c),
            }
            self.rows.resize(self.rows.len().max(self.row + 1), Vec::new());
        }
    }

    fn obey(&mut self, letter: Option<char>, number: usize, text: &str) {
        match letter {
            Some('A') => {
                self.row = self.row.checked_sub(number).unwrap_or_else(|| panic!("above the top: {text:?}"));
            }
            Some('J') => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].truncate(self.column);
            }
            Some('K') => self.rows[self.row].truncate(self.column),
            other => panic!("{other:?} in {text:?}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.column == self.columns {
            (self.row, self.column) = (self.row + 1, 0);
            self.rows.resize(self.rows.len().max(self.row + 1), Vec::new());
        }
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + 1), ' ');
        row[self.column] = c;
        self.column += 1;
    }

    fn shown(&self) -> Vec<String> {
        assert_eq!((self.rows.len(), self.column), (self.row + 1, 0), "the cursor rests below");
        let text = self.rows[..self.row].iter().map(|row| row.iter().collect::<String>());
        text.map(|row| row.trim_end().to_owned()).collect()
    }

    /// As terminals do: lines that no longer fit are broken, and the cursor stays behind the same text.
    fn resize(&mut self, columns: usize) {
        let rows = std::mem::take(&mut self.rows);
        for (number, row) in rows.iter().enumerate() {
            if number == self.row {
                self.row = self.rows.len();
            }
            match row.is_empty() {
                true => self.rows.push(Vec::new()),
                false => self.rows.extend(row.chunks(columns).map(<[char]>::to_vec)),
            }
        }
        self.columns = columns;
    }
}

fn lines(text: &[&str]) -> Vec<String> {
    text.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn what_stays_scrolls_above_and_nothing_of_what_moved_is_left() {
    let mut terminal = Terminal::new(20);
    let mut redraw = Redraw::default();
    terminal.write(&redraw.frame(&lines(&["began"]), &lines(&["* a", "* b", "0/2"]), 20));
    assert_eq!(terminal.shown(), ["began", "* a", "* b", "0/2"]);
    terminal.write("^C");
    terminal.write(&redraw.frame(&[], &lines(&["+ a", "0/2"]), 20));
    assert_eq!(terminal.shown(), ["began", "+ a", "0/2"]);
    let long = "FAILED because of something that takes two lines and more";
    terminal.write(&redraw.frame(&lines(&[long]), &lines(&["+ b", "1/2"]), 20));
    assert_eq!(
        terminal.shown()[1..],
        ["FAILED because of so", "mething that takes t", "wo lines and more", "+ b", "1/2"]
    );
    terminal.write(&redraw.frame(&lines(&["ok b"]), &[], 20));
    assert_eq!(terminal.shown()[3..], ["wo lines and more", "ok b"]);
}

#[test]
fn a_terminal_that_became_narrower_keeps_no_broken_line() {
    let mut terminal = Terminal::new(40);
    let mut redraw = Redraw::default();
    let area = lines(&["* review[src/one.rs]  4s  Grep timeout", "1/9 done, 1 running"]);
    terminal.write(&redraw.frame(&lines(&["began"]), &area, 40));
    terminal.resize(16);
    terminal.write(&redraw.frame(&[], &lines(&["* review[src/o", "1/9 done, 1 r"]), 16));
    assert_eq!(terminal.shown(), ["began", "* review[src/o", "1/9 done, 1 r"]);
    terminal.resize(60);
    terminal.write(&redraw.frame(&[], &area, 60));
    assert_eq!(terminal.shown(), [&["began".to_owned()][..], &area[..]].concat());
}
