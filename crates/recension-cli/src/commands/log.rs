//! `recension log`: the moments that matter to branches, newest first: where they begin, tags, merges, and the last
//! changes of each; and how they hang together.

use std::cmp::Reverse;

use clap::Args;
use recension::engine::{BranchId, Seq};
use recension::{At, Store, format_time};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  recension log
  recension log --graph
  recension log --json | jq -r 'select(.branch == \"idea\") | .seq'

Every branch has a column of the graph, from its beginning (the lower end) on. `*<|` is a merge of the column that the \
line leads to, `*-'` the beginning of one. A merge that was done again is told once, as of the last time. `recension \
changes` has the documents.";

/// List where branches begin, tags, merges, and the last changes on each branch
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Log {
    /// Draw how branches begin and are merged
    #[arg(long)]
    graph: bool,
    /// Print at most this many moments; 0 prints all
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 0)]
    limit: usize,
}

/// A branch, or the main line.
struct Line {
    id: BranchId,
    name: String,
    /// Nothing before it is its own.
    fork: Option<Seq>,
}

/// A moment of a line.
struct Moment {
    seq: Seq,
    /// The line's place.
    line: usize,
    what: String,
    joins: Option<Join>,
}

/// The place of a line that a moment hangs together with.
#[derive(Clone, Copy)]
enum Join {
    Begins(usize),
    Merged(usize),
}

impl Log {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?.main_line()?;
        let lines = lines(&store)?;
        let mut moments = moments(&store, &lines)?;
        // What begins at a commit is later than what the commit did.
        moments.sort_by_key(|moment| (Reverse(moment.seq), !matches!(moment.joins, Some(Join::Begins(_)))));
        if moments.is_empty() {
            return Ok(context.out.remark("no branches, no tags, no changes")?);
        }
        let row = |moment: &Moment| {
            let time = store.engine().snapshot_at(moment.seq).and_then(|then| then.time());
            let time = time.map_or(Value::Null, |time| json!(format_time(time)));
            let branch = lines.get(moment.line).map(|line| json!(line.name)).unwrap_or_default();
            let mut row = vec![json!(moment.seq.0), time, branch, json!(moment.what)];
            if self.graph {
                row.insert(0, json!(drawn(moment, &lines)));
            }
            row
        };
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let rows: Vec<Vec<Value>> = moments.iter().take(limit).map(row).collect();
        let names = ["graph", "seq", "time", "branch", "what"];
        Ok(context.out.rows(&names[usize::from(!self.graph)..], &rows)?)
    }
}

fn lines(store: &Store) -> Result<Vec<Line>> {
    let mut lines = vec![Line { id: BranchId(0), name: "main".to_owned(), fork: None }];
    lines.extend(store.branches()?.into_iter().map(|branch| Line {
        id: branch.id,
        name: branch.name,
        fork: Some(branch.fork),
    }));
    Ok(lines)
}

fn moments(store: &Store, lines: &[Line]) -> Result<Vec<Moment>> {
    let place = |id: BranchId| lines.iter().position(|line| line.id == id);
    let mut moments = Vec::new();
    for tag in store.tags()? {
        // The tag of a branch that was dropped is a moment of none.
        if let Some(line) = place(tag.branch) {
            moments.push(Moment { seq: tag.seq, line, what: format!("tag {}", tag.name), joins: None });
        }
    }
    for branch in store.branches()? {
        if let (Some(own), Some(line)) = (place(branch.id), place(branch.parent)) {
            let what = format!("{} begins", branch.name);
            moments.push(Moment { seq: branch.fork, line, what, joins: Some(Join::Begins(own)) });
        }
    }
    for (merge, seq) in store.merges()? {
        if let (Some(from), Some(line)) = (place(merge.from), place(merge.into)) {
            let what = lines.get(from).map(|line| format!("{} merged", line.name)).unwrap_or_default();
            moments.push(Moment { seq, line, what, joins: Some(Join::Merged(from)) });
        }
    }
    for (line, of) in lines.iter().enumerate() {
        let opened = if line == 0 { store.clone() } else { store.open_branch(&of.name)? };
        for (name, seq) in opened.collections_changed(of.fork.unwrap_or_default(), At::Now)? {
            let merged = moments.iter().any(|moment| moment.seq == seq && moment.line == line);
            if !merged {
                moments.push(Moment { seq, line, what: format!("last change of {name}"), joins: None });
            }
        }
    }
    Ok(moments)
}

/// A line of the graph: a column for each branch, and one between each two.
fn drawn(moment: &Moment, lines: &[Line]) -> String {
    let mut drawn = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let alive = line.fork.is_none_or(|fork| fork < moment.seq);
        drawn.push(if alive { '|' } else { ' ' });
        if at + 1 < lines.len() {
            drawn.push(' ');
        }
    }
    let joined = moment.joins.map(|joins| match joins {
        Join::Begins(to) => (to, '-', '\''),
        Join::Merged(to) => (to, '<', '|'),
    });
    if let Some((to, first, end)) = joined {
        let (own, to) = (2 * moment.line, 2 * to);
        let first = if own < to {
            first
        } else if first == '<' {
            '>'
        } else {
            first
        };
        for (at, drawn) in drawn.iter_mut().enumerate() {
            match at {
                at if at == to => *drawn = end,
                at if at == own.min(to) + 1 && own < to => *drawn = first,
                at if at + 1 == own && own > to => *drawn = first,
                at if (own.min(to)..own.max(to)).contains(&at) && *drawn == ' ' => *drawn = '-',
                _ => {}
            }
        }
    }
    if let Some(own) = drawn.get_mut(2 * moment.line) {
        *own = '*';
    }
    drawn.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, fork: Option<u64>) -> Line {
        Line { id: BranchId(0), name: name.to_owned(), fork: fork.map(Seq) }
    }

    fn drawn_at(seq: u64, line: usize, joins: Option<Join>, lines: &[Line]) -> String {
        drawn(&Moment { seq: Seq(seq), line, what: String::new(), joins }, lines)
    }

    #[test]
    fn each_branch_is_a_column_from_its_beginning_on() {
        let lines = [line("main", None), line("idea", Some(3)), line("other", Some(7))];
        assert_eq!(drawn_at(9, 0, Some(Join::Merged(2)), &lines), "*<|-|");
        assert_eq!(drawn_at(9, 2, Some(Join::Merged(0)), &lines), "|-|>*");
        assert_eq!(drawn_at(8, 1, None, &lines), "| * |");
        assert_eq!(drawn_at(7, 1, Some(Join::Begins(2)), &lines), "| *-'");
        assert_eq!(drawn_at(3, 0, Some(Join::Begins(1)), &lines), "*-'");
        assert_eq!(drawn_at(2, 0, None, &lines), "*");
    }
}
