//! tantivy in this process: the words of the notes with their places, and the number of each order.

use std::path::Path;

use tantivy::collector::DocSetCollector;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, STORED, Schema, TEXT};
use tantivy::{Index, IndexReader, TantivyError, Term, doc};

use super::model::{Answer, Ask, Order, id};
use super::{Orders, not_asked};
use crate::error::{LabError, Result};

/// Memory of its writer.
const WRITER_BYTES: usize = 256 << 20;

struct Notes {
    index: Index,
    reader: IndexReader,
    number: Field,
    note: Field,
}

type Its<T> = std::result::Result<T, TantivyError>;

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    let mut schema = Schema::builder();
    let number = schema.add_u64_field("number", FAST | STORED);
    let note = schema.add_text_field("note", TEXT);
    let opened = Index::create_in_dir(dir, schema.build()).and_then(|index| Ok((index.reader()?, index)));
    let (reader, index) = opened.map_err(LabError::subject("making an index"))?;
    Ok(Box::new(Notes { index, reader, number, note }))
}

impl Notes {
    fn load_all(&self, orders: &[Order]) -> Its<()> {
        let mut writer = self.index.writer(WRITER_BYTES)?;
        for order in orders {
            writer.add_document(doc!(self.number => order.number, self.note => order.note.as_str()))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        self.reader.reload()
    }

    fn ids(&self, query: &dyn Query) -> Its<Vec<String>> {
        let searcher = self.reader.searcher();
        let found = searcher.search(query, &DocSetCollector)?;
        let columns = searcher.segment_readers().iter().map(|segment| segment.fast_fields().u64("number"));
        let columns = columns.collect::<Its<Vec<_>>>()?;
        let number = |place: tantivy::DocAddress| columns.get(place.segment_ord as usize)?.first(place.doc_id);
        Ok(found.into_iter().filter_map(number).map(id).collect())
    }
}

impl Orders for Notes {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        self.load_all(orders).map_err(LabError::subject("loading"))
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        let term = |word: &String| Term::from_field_text(self.note, word);
        let query: Box<dyn Query> = match ask {
            Ask::Words { words } => Box::new(BooleanQuery::new(
                words
                    .iter()
                    .map(|word| {
                        let one: Box<dyn Query> = Box::new(TermQuery::new(term(word), IndexRecordOption::Basic));
                        (Occur::Must, one)
                    })
                    .collect(),
            )),
            Ask::Phrase { words } => Box::new(PhraseQuery::new(words.iter().map(term).collect())),
            _ => return Err(not_asked(ask)),
        };
        self.ids(query.as_ref()).map(Answer::Ids).map_err(LabError::subject("a query"))
    }
    fn settings(&self) -> String {
        "a writer of 256 MB, default tokenizer, merged when loaded; notes and numbers alone, without the documents"
            .to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
