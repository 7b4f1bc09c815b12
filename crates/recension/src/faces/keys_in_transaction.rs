//! Keys inside of a transaction, together with documents. A write outside of any transaction uses the same code, in a
//! transaction of its own.

use std::ops::Bound;

use crate::engine::{Direction, Seq, Snapshot, Timestamp, TreeId};
use crate::faces::transaction::Transaction;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::key_rows::SpaceTrees;
use crate::kernel::write::keys::{KeyWriter, rows_of, scan_keys};
use recension_values::error::{Error, Result};
use recension_values::key_value::{Expiry, KeyCondition, KeyEntry, KeyRows, KeyValue, SetOptions, SetOutcome};
use recension_values::limits::{KEY_ROW_BYTES_MAX, KEY_VALUE_BYTES_MAX};
use recension_values::write::check_name;

/// A namespace of keys inside of a transaction. Expiry is judged by the moment when this handle was made.
pub struct TransactionKeys<'t> {
    writer: KeyWriter<'t>,
    /// The tree of the keys' rows, for a handle that may write them.
    rows: Option<TreeId>,
}

impl Transaction {
    /// A namespace of keys, as this transaction sees it. The namespace is made even if the transaction is not
    /// committed.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::Error::BadName).
    pub fn keys(&self, name: &str) -> Result<TransactionKeys<'_>> {
        check_name("namespace", name)?;
        let trees = self.store().spaces().of(name).made(self.store())?;
        self.store().sweep_from_now_on();
        Ok(TransactionKeys::new(self.view(), trees, self.store().moment()))
    }

    /// The same, for keys whose values may be rows.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::Error::BadName).
    pub fn keys_with_rows(&self, name: &str) -> Result<TransactionKeys<'_>> {
        let keys = self.keys(name)?;
        let rows = self.store().keys(name)?.rows_made()?;
        Ok(TransactionKeys { rows: Some(rows), ..keys })
    }
}

impl<'t> TransactionKeys<'t> {
    pub(super) fn new(view: &'t Overlay, trees: SpaceTrees, now: Timestamp) -> Self {
        TransactionKeys { writer: KeyWriter { view, trees, now }, rows: None }
    }

    /// The moment by which expiry is judged.
    pub fn moment(&self) -> Timestamp {
        self.writer.now
    }

    /// The value of a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyValue>> {
        Ok(self.entry(key)?.map(|entry| entry.value))
    }

    /// The value of a key, and when it expires.
    pub fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyEntry>> {
        self.writer.entry(key.as_ref())
    }

    /// The last known commit that wrote or removed the key; `None` if there is none.
    pub fn version(&self, key: impl AsRef<[u8]>) -> Result<Option<Seq>> {
        Ok(self.entry(key)?.map(|entry| entry.seq))
    }

    /// See [`Keys::set`](crate::Keys::set).
    pub fn set(&self, key: impl AsRef<[u8]>, value: impl Into<KeyValue>) -> Result<()> {
        self.set_with(key, value, &SetOptions::new()).map(|_| ())
    }

    /// See [`Keys::set_with`](crate::Keys::set_with).
    pub fn set_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl Into<KeyValue>,
        options: &SetOptions,
    ) -> Result<SetOutcome> {
        self.writer.set(key.as_ref(), &value.into(), options)
    }

    /// See [`Keys::compare_and_set`](crate::Keys::compare_and_set).
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        expected: Option<KeyValue>,
        value: impl Into<KeyValue>,
    ) -> Result<bool> {
        let condition = expected.map_or(KeyCondition::Absent, KeyCondition::Equal);
        Ok(self.set_with(key, value, &SetOptions::new().keep_existing().only_if(condition))?.written)
    }

    /// Removes a key; answers its entry.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyEntry>> {
        self.writer.remove(key.as_ref())
    }

    /// Removes a key, but leaves rows that are its value: for who has deleted them, or gives them to another key.
    pub fn detach(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.writer.detach(key.as_ref()).map(|_| ())
    }

    /// The value of a row of a key whose value is rows.
    pub fn row(&self, of: &KeyRows, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let Some(tree) = self.rows else { return Ok(None) };
        let row = self.writer.view.get(tree, &[&of.id[..], key.as_ref()].concat())?;
        Ok(row.map(|row| row.bytes.to_vec()))
    }

    /// Rows of a key whose value they are, between bounds.
    pub fn rows(
        &self,
        of: &KeyRows,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>> + use<'t> {
        rows_of(self.writer.view, self.rows, of, bounds, direction)
    }

    /// Writes a row of a key whose value is rows. The key is set apart from them.
    ///
    /// # Errors
    /// [`Error::BadField`] if this handle is not of [`Transaction::keys_with_rows`], or the row is too long.
    pub fn put_row(&self, of: &KeyRows, key: impl AsRef<[u8]>, value: Vec<u8>) -> Result<()> {
        let key = key.as_ref();
        let tree = self.rows.ok_or(Error::BadField { field: "rows", expected: "a handle of keys_with_rows" })?;
        if key.len() > KEY_ROW_BYTES_MAX || value.len() > KEY_VALUE_BYTES_MAX {
            return Err(Error::BadField { field: "row", expected: "at most 8020 bytes of key, 63 MiB of value" });
        }
        self.writer.view.put(tree, &[&of.id[..], key].concat(), value);
        Ok(())
    }

    /// Deletes a row.
    pub fn delete_row(&self, of: &KeyRows, key: impl AsRef<[u8]>) {
        if let Some(tree) = self.rows {
            self.writer.view.delete(tree, &[&of.id[..], key.as_ref()].concat());
        }
    }

    /// See [`Keys::increment`](crate::Keys::increment).
    pub fn increment(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        self.writer.increment(key.as_ref(), by)
    }

    /// See [`Keys::decrement`](crate::Keys::decrement).
    pub fn decrement(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        // `i64::MIN` has no opposite, so it takes two steps.
        match by.checked_neg() {
            Some(by) => self.increment(key, by),
            None => {
                self.increment(key.as_ref(), i64::MAX)?;
                self.increment(key, 1)
            }
        }
    }

    /// See [`Keys::increment_float`](crate::Keys::increment_float).
    pub fn increment_float(&self, key: impl AsRef<[u8]>, by: f64) -> Result<f64> {
        self.writer.increment_float(key.as_ref(), by)
    }

    /// See [`Keys::expire`](crate::Keys::expire).
    pub fn expire(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<bool> {
        self.writer.expire(key.as_ref(), expiry)
    }

    /// Renews the expiry of a key, if it slides, as [`Keys::get`](crate::Keys::get) does.
    pub fn renew(&self, key: impl AsRef<[u8]>) -> Result<()> {
        self.writer.renew(key.as_ref())
    }

    /// See [`Keys::scan`](crate::Keys::scan).
    pub fn scan(
        &self,
        prefix: impl AsRef<[u8]>,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, KeyEntry)>> {
        let KeyWriter { view, trees, now } = self.writer;
        let view: &dyn Snapshot = view;
        scan_keys(view, trees, (prefix.as_ref(), after), limit, now)
    }
}
