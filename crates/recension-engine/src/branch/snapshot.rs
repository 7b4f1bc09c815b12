//! A branch as of one commit: its own rows over what its parent had at the fork. Own rows and deletions win.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::sync::Arc;

use crate::branch_rows::{BRANCHES_TREE, BranchId, PREFIX_BYTES, own_tree, shown, shown_value, without_start};
use crate::{
    Direction, Engine, EngineError, KeyRange, Keys, Result, Row, Rows, Scratch, Seq, Snapshot, Timestamp, TreeId,
    Value, Version, Versions, Wanted,
};

/// See the module.
pub(super) struct BranchSnapshot {
    pub(super) root: Arc<dyn Engine>,
    pub(super) branch: BranchId,
    /// The whole store, as of the commit that is shown.
    pub(super) own: Arc<dyn Snapshot>,
    /// The parent at the fork, or at that commit if it is older.
    pub(super) parent: Arc<dyn Snapshot>,
}

impl BranchSnapshot {
    fn own_keys(&self, keys: &[(TreeId, &[u8])]) -> Vec<(TreeId, Vec<u8>)> {
        let place = |(tree, key): &(TreeId, &[u8])| match *tree {
            BRANCHES_TREE => (*tree, key.to_vec()),
            tree => (own_tree(tree), self.branch.key(tree, key)),
        };
        keys.iter().map(place).collect()
    }

    fn own_rows(&self, tree: TreeId, range: &KeyRange, direction: Direction, rows: Option<usize>) -> Rows<'_> {
        // A value may be a deletion: it is always wanted.
        let wanted = Wanted { rows, values: true };
        let own = self.own.range_of(own_tree(tree), &self.branch.range(tree, range), direction, wanted);
        Box::new(own.map(|row| row.map(|row| Row { key: without_start(row.key, PREFIX_BYTES), value: row.value })))
    }

    /// The commit before which a key's history on the branch has been given up, if any of it has.
    fn horizon(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        match self.root.snapshot_at(Seq::ZERO)?.get(own_tree(tree), &self.branch.key(tree, key)) {
            Err(EngineError::Forgotten { oldest, .. }) => Ok(Some(oldest)),
            other => other.map(|_| None),
        }
    }
}

impl Snapshot for BranchSnapshot {
    fn seq(&self) -> Seq {
        self.own.seq()
    }

    fn afresh(&self) -> Option<Arc<dyn Snapshot>> {
        let (own, parent) = (self.own.afresh()?, self.parent.afresh()?);
        Some(Arc::new(BranchSnapshot { root: self.root.clone(), branch: self.branch, own, parent }))
    }

    fn time(&self) -> Result<Timestamp> {
        self.own.time()
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        if tree == BRANCHES_TREE {
            return self.own.get(tree, key);
        }
        match self.own.get(own_tree(tree), &self.branch.key(tree, key))? {
            Some(value) => Ok(shown_value(value)),
            None => self.parent.get(tree, key),
        }
    }

    fn get_many(&self, keys: &[(TreeId, &[u8])]) -> Result<Vec<Option<Value<'_>>>> {
        let places = self.own_keys(keys);
        let places: Vec<_> = places.iter().map(|(tree, key)| (*tree, key.as_slice())).collect();
        let mut values = self.own.get_many(&places)?;
        let is_missing =
            |(value, (tree, _)): &(&Option<Value<'_>>, &(TreeId, &[u8]))| value.is_none() && *tree != BRANCHES_TREE;
        let missing: Vec<_> = values.iter().zip(keys).filter(is_missing).map(|(_, key)| *key).collect();
        let mut found = if missing.is_empty() { Vec::new() } else { self.parent.get_many(&missing)? }.into_iter();
        for (value, (tree, _)) in values.iter_mut().zip(keys) {
            if *tree != BRANCHES_TREE {
                *value = match value.take() {
                    Some(value) => shown_value(value),
                    None => found.next().flatten(),
                };
            }
        }
        Ok(values)
    }

    fn is_distant(&self) -> bool {
        self.own.is_distant()
    }

    fn prefetch(&self, tree: TreeId, keys: &[&[u8]]) {
        let places: Vec<_> = keys.iter().map(|key| self.branch.key(tree, key)).collect();
        self.own.prefetch(own_tree(tree), &places.iter().map(Vec::as_slice).collect::<Vec<_>>());
        self.parent.prefetch(tree, keys);
    }

    fn announce(&self, keys: &[(TreeId, &[u8])]) {
        let places = self.own_keys(keys);
        self.own.announce(&places.iter().map(|(tree, key)| (*tree, key.as_slice())).collect::<Vec<_>>());
        self.parent.announce(keys);
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        self.range_of(tree, range, direction, Wanted::default())
    }

    fn range_of(&self, tree: TreeId, range: &KeyRange, direction: Direction, wanted: Wanted) -> Rows<'_> {
        if tree == BRANCHES_TREE {
            return self.own.range_of(tree, range, direction, wanted);
        }
        let mut own = self.own_rows(tree, range, direction, wanted.rows).peekable();
        let parent = self.parent.range_of(tree, range, direction, wanted);
        if own.peek().is_none() {
            return parent;
        }
        Box::new(Merged { own, parent: parent.peekable(), direction, failed: false })
    }

    fn each_row(
        &self,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        see: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        if tree != BRANCHES_TREE && self.own_rows(tree, range, direction, None).next().is_none() {
            return self.parent.each_row(tree, range, direction, see);
        }
        for row in self.range(tree, range, direction) {
            let row = row?;
            if !see(&row.key, &row.value) {
                break;
            }
        }
        Ok(())
    }

    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        if tree == BRANCHES_TREE {
            return self.own.first_key(tree, prefix, key);
        }
        if !self.own.first_key(own_tree(tree), &self.branch.key(tree, prefix), key)? {
            return self.parent.first_key(tree, prefix, key);
        }
        let row = self.range(tree, &KeyRange::prefix(prefix), Direction::Forward).next().transpose()?;
        key.clear();
        key.extend_from_slice(row.as_ref().map_or(&[], |row| &row.key));
        Ok(row.is_some())
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        if tree == BRANCHES_TREE {
            return self.own.keys(tree, range);
        }
        let own = self.own.keys(own_tree(tree), &self.branch.range(tree, range));
        let own = own.map(|key| key.map(|key| key.get(PREFIX_BYTES..).unwrap_or_default().to_vec()));
        let (mut own, mut parent) = (own.peekable(), self.parent.keys(tree, range).peekable());
        let mut failed = false;
        Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let order = match (own.peek(), parent.peek()) {
                (Some(Ok(own)), Some(Ok(parent))) => own.cmp(parent),
                (Some(Err(_)), _) | (Some(_), None) => Ordering::Less,
                (_, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            if order == Ordering::Equal {
                parent.next();
            }
            let next = if order == Ordering::Greater { parent.next() } else { own.next() };
            failed = next.as_ref().is_some_and(Result::is_err);
            next
        }))
    }

    fn scratch(&self) -> Result<Option<Box<dyn Scratch>>> {
        self.own.scratch()
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        if tree == BRANCHES_TREE {
            return self.own.versions(tree, key);
        }
        let horizon = match self.horizon(tree, key) {
            Ok(horizon) => horizon,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let own = self.own.versions(own_tree(tree), &self.branch.key(tree, key)).map(|version| {
            let Version { seq, time, value } = version?;
            Ok(Version { seq, time, value: value.and_then(shown) })
        });
        let key = key.to_vec();
        let parent = std::iter::once_with(move || self.parent.versions(tree, &key)).flatten();
        let mut ended = false;
        Box::new(own.chain(parent).map_while(move |version| {
            if ended {
                return None;
            }
            // Of a history that was given up the base is left out if it is a deletion.
            let is_base = |version: &Version<'_>| horizon.is_some_and(|horizon| version.seq <= horizon);
            ended = version.as_ref().map_or(true, is_base);
            let is_left_out = ended && version.as_ref().is_ok_and(|version| version.value.is_none());
            (!is_left_out).then_some(version)
        }))
    }
}

/// The rows of both, in their order.
struct Merged<'s> {
    own: Peekable<Rows<'s>>,
    parent: Peekable<Rows<'s>>,
    direction: Direction,
    failed: bool,
}

impl<'s> Iterator for Merged<'s> {
    type Item = Result<Row<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.failed {
                return None;
            }
            let order = match (self.own.peek(), self.parent.peek()) {
                (Some(Ok(own)), Some(Ok(parent))) => match self.direction {
                    Direction::Forward => own.key.cmp(&parent.key),
                    Direction::Backward => parent.key.cmp(&own.key),
                },
                (Some(Err(_)), _) | (Some(_), None) => Ordering::Less,
                (_, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            if order == Ordering::Greater {
                let row = self.parent.next();
                self.failed = matches!(row, Some(Err(_)));
                return row;
            }
            if order == Ordering::Equal {
                self.parent.next();
            }
            match self.own.next()? {
                Ok(Row { key, value }) => {
                    if let Some(value) = shown_value(value) {
                        return Some(Ok(Row { key, value }));
                    }
                }
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
