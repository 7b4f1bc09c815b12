//! The newest values of the counters that commits add to. Nearly every commit adds to the same few counters, and would
//! otherwise look up the value that the commit before has written.

use std::collections::BTreeMap;

use recension_engine::{BatchRow, Result, TreeId};

/// Most counters that are remembered.
const COUNTERS_MAX: usize = 256;

/// The values of counters as of the newest commit that has a number, by full key; `None` if there is no row.
#[derive(Default)]
pub(super) struct Counters {
    values: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// Their trees, each once: rows of other trees need no look-up.
    trees: Vec<TreeId>,
}

impl Counters {
    /// The value of a counter; `read` is called if it is not known.
    pub(super) fn get(
        &mut self,
        tree: TreeId,
        full_key: &[u8],
        read: impl FnOnce() -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Vec<u8>>> {
        if let Some(value) = self.values.get(full_key) {
            return Ok(value.clone());
        }
        let value = read()?;
        if self.values.len() >= COUNTERS_MAX {
            *self = Counters::default();
        }
        if !self.trees.contains(&tree) {
            self.trees.push(tree);
        }
        self.values.insert(full_key.to_vec(), value.clone());
        Ok(value)
    }

    /// Must be called for every row that is written, because the values would be outdated otherwise.
    pub(super) fn written(&mut self, full_key: &[u8], row: &BatchRow<'_>) {
        if self.trees.contains(&row.tree)
            && let Some(known) = self.values.get_mut(full_key)
        {
            match (known, row.value) {
                (Some(known), Some(value)) => value.clone_into(known),
                (known, value) => *known = value.map(<[u8]>::to_vec),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_once_and_then_what_was_written() {
        let mut counters = Counters::default();
        let tree = TreeId(1);
        let never = || panic!("it is known");
        assert_eq!(counters.get(tree, b"a", || Ok(Some(vec![1]))).unwrap(), Some(vec![1]));
        assert_eq!(counters.get(tree, b"a", never).unwrap(), Some(vec![1]));
        counters.written(b"a", &BatchRow { tree, key: b"a", value: Some(&[2]) });
        assert_eq!(counters.get(tree, b"a", never).unwrap(), Some(vec![2]));
        counters.written(b"a", &BatchRow { tree, key: b"a", value: None });
        assert_eq!(counters.get(tree, b"a", never).unwrap(), None);
        // Rows that are no counters are not remembered.
        counters.written(b"b", &BatchRow { tree, key: b"b", value: Some(&[3]) });
        assert_eq!(counters.get(tree, b"b", || Ok(Some(vec![4]))).unwrap(), Some(vec![4]));
        assert!(
            counters.get(tree, b"c", || Err(recension_engine::EngineError::damaged("log", 0, "on purpose"))).is_err()
        );
        assert_eq!(counters.get(tree, b"c", || Ok(None)).unwrap(), None);
    }

    #[test]
    fn few_are_remembered_and_none_is_wrong() {
        let mut counters = Counters::default();
        for n in 0..3 * COUNTERS_MAX as u32 {
            let (tree, key) = (TreeId(n % 7), n.to_be_bytes());
            let value = n.to_be_bytes().to_vec();
            assert_eq!(counters.get(tree, &key, || Ok(Some(value.clone()))).unwrap(), Some(value));
            assert!(counters.values.len() <= COUNTERS_MAX && counters.trees.len() <= 7);
            let early = (n / 2).to_be_bytes();
            counters.written(&early, &BatchRow { tree: TreeId(n / 2 % 7), key: &early, value: Some(&early) });
            let read = || Ok(Some(early.to_vec()));
            assert_eq!(counters.get(TreeId(n / 2 % 7), &early, read).unwrap(), Some(early.to_vec()));
        }
    }
}
