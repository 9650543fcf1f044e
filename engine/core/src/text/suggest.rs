//! "did you mean".

/// The candidate that the person most likely meant, if one is near enough to be worth saying.
pub fn did_you_mean<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = given.to_lowercase();
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != given)
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let mut distance = edits(&wanted, &lower);
            // `reviewer` for `rev`, `exclude_files` for `exclude`: one begins the other.
            if distance > limit && wanted.len().min(lower.len()) >= 3 {
                let begins = wanted.starts_with(&lower) || lower.starts_with(&wanted);
                distance = if begins { limit } else { distance };
            }
            (distance <= limit).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Names that hold this one or that it holds, then those that share a word with it, the nearest first: for who knows a part
/// of a name.
pub fn alike<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    /// Shorter words (`code`, `agent`'s kin) are in half of all names.
    const LEAST: usize = 5;
    let wanted = given.to_lowercase();
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= LEAST);
        words.map(str::to_owned).collect()
    };
    let own = words(&wanted);
    let rank = |name: &str| {
        let lower = name.to_lowercase();
        let holds = lower.contains(&wanted) || (lower.len() >= LEAST && wanted.contains(&lower));
        let shared = words(&lower).iter().filter(|word| own.contains(word)).count();
        (holds || shared > 0).then_some((!holds, usize::MAX - shared, lower.len()))
    };
    let mut found: Vec<_> = names.into_iter().filter_map(|name| Some((rank(name)?, name))).collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

/// "`a`, `b`, `c` and 4 more": at most `most` names.
pub fn list_some<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(most).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Edits between two words (insert, delete, replace, swap of neighbours), by the optimal string alignment table.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
#[path = "suggest_tests.rs"]
mod tests;
