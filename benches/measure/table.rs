//! Tables in Markdown.

/// A table; the first row is its head, the first column is text, the others are figures.
pub(crate) fn markdown(rows: &[Vec<String>]) -> String {
    let mut lines = rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let head = lines.next().unwrap_or_default();
    let rule = format!("|---|{}\n", "---:|".repeat(rows.first().map_or(0, Vec::len) - 1));
    head + &rule + &lines.collect::<String>()
}
