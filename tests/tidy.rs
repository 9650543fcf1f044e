//! The house rules that a compiler doesn't check: file sizes, layers, tables, the top level, words that don't belong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unreachable_pub,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 600;

/// What the command line, as any other face, may use: what it shows, and none of what makes it.
const FACE: &[(&str, &[&str])] = &[
    ("flow_run", &["engine", "watch"]),
    (
        "flow_core",
        &[
            "compile",
            "converse",
            "diagnostic",
            "event",
            "graph",
            "ids",
            "model",
            "plan",
            "report",
            "text",
            "values",
        ],
    ),
];

/// Edges that the rows alone would allow and that must not exist.
const STRANGERS: &[(&str, &str)] = &[
    ("schedule", "converse"),
    ("converse", "schedule"),
    ("schedule", "wire"),
    ("wire", "schedule"),
    ("store", "load"),
    ("load", "store"),
    ("workspace", "provider"),
    ("provider", "workspace"),
    ("store", "workspace"),
    ("workspace", "store"),
    ("store", "provider"),
    ("provider", "store"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(under: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![under.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn all_rust_files() -> Vec<PathBuf> {
    ["engine", "tests"].iter().flat_map(|folder| rust_files(&root().join(folder))).collect()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn no_file_is_longer_than_its_limit() {
    let long: Vec<_> = all_rust_files()
        .into_iter()
        .map(|path| (fs::read_to_string(&path).unwrap().lines().count(), shown(&path)))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .collect();
    assert!(long.is_empty(), "one file, one idea; split these: {long:#?}");
}

#[test]
fn every_file_begins_with_its_purpose() {
    let silent: Vec<_> = all_rust_files()
        .into_iter()
        .filter(|path| !path.file_name().unwrap().to_string_lossy().ends_with("_tests.rs"))
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .map(|path| shown(&path))
        .collect();
    assert!(silent.is_empty(), "a `//!` line says what a file is for: {silent:#?}");
}

/// The modules of a crate and where each stands in its table of `engine/ARCHITECTURE.md`, whose rows are in order.
fn places(page: &str, krate: &str) -> BTreeMap<String, usize> {
    let (_, below) =
        page.split_once(&format!("## flow-{krate}, from the bottom")).expect("a table of the crate");
    let table =
        below.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let rows: Vec<(u32, &str)> = table
        .filter_map(|line| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            Some((cells.next()?.parse().ok()?, cells.next()?))
        })
        .collect();
    assert!(rows.is_sorted_by_key(|(row, _)| row), "the rows of flow-{krate} are out of order");
    let modules =
        rows.iter().flat_map(|(_, modules)| modules.split(',').map(|name| name.trim().trim_matches('`')));
    modules.enumerate().map(|(at, name)| (name.to_owned(), at)).collect()
}

#[test]
fn layers_only_look_down() {
    let page = fs::read_to_string(root().join("engine/ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for krate in ["core", "run"] {
        let place = places(&page, krate);
        assert!(place.len() > 5, "{krate}: {place:?}");
        let src = root().join("engine").join(krate).join("src");
        for path in rust_files(&src) {
            let inside = path.strip_prefix(&src).unwrap();
            let own = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
            if own == "lib" || own == "testing" || path.to_string_lossy().contains("_tests") {
                continue;
            }
            let Some(&here) = place.get(own.as_str()) else {
                wrong.push(format!("{}: module `{own}` is in no row", shown(&path)));
                continue;
            };
            for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
                for piece in line.split("crate::").skip(1) {
                    let used: String =
                        piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let Some(&there) = place.get(used.as_str()) else { continue };
                    let stranger = STRANGERS.contains(&(own.as_str(), used.as_str()));
                    if used != own && (there >= here || stranger) {
                        wrong.push(format!("{}:{}: `{own}` uses `{used}`", shown(&path), number + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The modules of a crate that a text names: `krate::one::…`, `krate::{one::…, two}`.
fn modules_of(krate: &str, text: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let mut found = Vec::new();
    for used in text.split(&format!("{krate}::")).skip(1) {
        let Some(group) = used.strip_prefix('{') else {
            found.push(name(used));
            continue;
        };
        let mut depth = 1;
        let mut begins = true;
        for (at, c) in group.char_indices() {
            if begins && depth == 1 && !c.is_whitespace() && c != '}' {
                found.push(name(&group[at..]));
                begins = false;
            }
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => begins = true,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn modules_are_found_in_every_form_of_a_use() {
    let text = "use k::a::{B, c::D};\nuse k::{\n    d::{E, F},\n    g,\n};\nlet x = k::h();";
    assert_eq!(modules_of("k", text), ["a", "d", "g", "h"]);
}

#[test]
fn a_face_sees_the_engine_and_no_part_of_it() {
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("engine/cli")) {
        let text = fs::read_to_string(&path).unwrap();
        for (krate, known) in FACE {
            let modules = modules_of(krate, &text).into_iter();
            let strange = modules.filter(|module| !known.contains(&module.as_str()));
            wrong.extend(strange.map(|module| format!("{}: `{krate}::{module}`", shown(&path))));
        }
    }
    assert!(wrong.is_empty(), "what a face needs is asked of the engine: {wrong:#?}");
}

#[test]
fn every_module_of_a_folder_is_named_by_its_parent() {
    let mut orphans = Vec::new();
    for path in all_rust_files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = path.parent().unwrap();
        let parent =
            ["mod.rs", "main.rs", "lib.rs"].iter().map(|file| folder.join(file)).find(|file| file.exists());
        let (false, Some(parent)) = (matches!(name.as_str(), "mod" | "main" | "lib" | "tidy"), parent) else {
            continue;
        };
        let text = fs::read_to_string(&parent).unwrap();
        let named = text.contains(&format!("mod {name};")) || text.contains(&format!("{name}.rs"));
        let beside = name.ends_with("_tests")
            && fs::read_dir(folder).unwrap().map(Result::unwrap).any(|entry| {
                entry.path() != path
                    && fs::read_to_string(entry.path())
                        .is_ok_and(|text| text.contains(&format!("\"{name}.rs\"")))
            });
        if !named && !beside {
            orphans.push(shown(&path));
        }
    }
    assert!(orphans.is_empty(), "these files are compiled by nobody: {orphans:#?}");
}

#[test]
fn the_top_level_is_the_owners() {
    const KNOWN: &[&str] = &[
        "Cargo.toml",
        "Cargo.lock",
        "engine",
        "workflows",
        "agents",
        "tests",
        "examples",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "target",
    ];
    let strange: Vec<_> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !KNOWN.contains(&name.as_str()))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// Names that stand elsewhere as well, and mean something else there.
const NAMESAKES: &[(&str, &str, &str)] =
    &[("Agent", "engine/core/src/plan/kind.rs", "what a notification calls an agent, as models know it")];

#[test]
fn a_name_stands_in_its_row_and_in_its_own_file() {
    let own = |folder: &str, name: &str| format!("engine/{folder}/{}.rs", name.to_lowercase());
    let tools = flow_core::model::TOOLS.iter().map(|tool| {
        (tool.name, vec!["engine/core/src/model/tools.rs".to_owned(), own("run/src/tool", tool.name)])
    });
    let apis = flow_core::wire::APIS.iter().map(|api| (api.kind.0, vec![own("core/src/wire", api.kind.0)]));
    let kinds = flow_core::plan::Kind::ALL
        .iter()
        .map(|kind| (kind.info().word, vec!["engine/core/src/plan/kind.rs".to_owned()]));
    let homes: Vec<(&str, Vec<String>)> = tools.chain(apis).chain(kinds).collect();
    let mut strays = Vec::new();
    for path in rust_files(&root().join("engine")).iter().filter(|path| !is_test(path)) {
        let (text, file) = (fs::read_to_string(path).unwrap(), shown(path));
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code {
            for (name, homes) in homes.iter().filter(|(name, _)| line.contains(&format!("\"{name}\""))) {
                let excused = NAMESAKES.iter().any(|(known, place, _)| known == name && *place == file);
                if !homes.contains(&file) && !excused {
                    strays.push(format!("{file}:{}: `{name}`", number + 1));
                }
            }
        }
    }
    assert!(strays.is_empty(), "what its name decides is a column of its row: {strays:#?}");
}

/// Whether a file holds tests or what only tests use.
fn is_test(path: &Path) -> bool {
    let file = path.file_name().unwrap().to_string_lossy();
    file.ends_with("_tests.rs")
        || file == "testing.rs"
        || path.components().any(|part| part.as_os_str() == "tests")
}

#[test]
fn nothing_is_left_undone() {
    let marks = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["FIX", "ME"].concat(),
        ["#[ig", "nore"].concat(),
    ];
    let undone: Vec<_> = all_rust_files()
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            marks.iter().any(|mark| text.contains(mark.as_str()))
        })
        .map(|path| shown(&path))
        .collect();
    assert!(undone.is_empty(), "{undone:?}");
}
