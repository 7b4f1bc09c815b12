//! The orders of the suite `queries`, each a function of its number, and what is asked of them: pure. An ask answers
//! itself from all orders, without an index, which is what every subject has to answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::Random;

/// Customers are one in this many orders.
pub const ORDERS_A_CUSTOMER: u64 = 20;
/// Words of the vocabulary.
const WORDS: u64 = 4000;
const COUNTRIES: [&str; 12] = [
    "Belgium", "Brazil", "Chile", "Estonia", "Ghana", "India", "Japan", "Kenya", "Norway", "Peru", "Portugal", "Spain",
];
const GIVEN: [&str; 8] = ["Ada", "Berta", "Carl", "Dora", "Emil", "Frida", "Gustav", "Hanna"];
const STATES: [&str; 5] = ["open", "paid", "sent", "returned", "closed"];
const TAGS: [&str; 8] = ["gift", "express", "fragile", "wholesale", "new", "repeat", "insured", "pickup"];
const SYLLABLES: [&str; 16] =
    ["ba", "do", "fi", "ga", "hu", "ke", "lo", "mi", "na", "po", "ri", "su", "ta", "ve", "wo", "zu"];

/// An item of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// What was ordered.
    pub sku: u64,
    /// How many.
    pub n: u64,
    /// The price of one, in cents.
    pub price: u64,
}

/// An order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Its number.
    pub number: u64,
    /// Its customer's number.
    pub customer: u64,
    /// Its state: one of five.
    pub state: String,
    /// All that its items cost, in cents.
    pub total: u64,
    /// When it was placed, in seconds.
    pub placed: u64,
    /// Its items.
    pub items: Vec<Item>,
    /// Its tags.
    pub tags: Vec<&'static str>,
    /// What was written to it: words in a row.
    pub note: String,
}

/// A word of the vocabulary.
fn word(number: u64) -> String {
    let syllable = |at: u32| SYLLABLES.get((number / 16_u64.pow(at) % 16) as usize).copied().unwrap_or_default();
    [0, 1, 2].map(syllable).concat()
}

/// A word as texts have them: few are frequent.
fn drawn_word(random: &mut Random) -> String {
    let of = 1 + random.below(WORDS);
    word(random.below(of))
}

/// The number of a sku as a text.
pub fn sku(number: u64) -> String {
    format!("sku-{number:05}")
}

/// The name of a customer.
pub fn name(customer: u64) -> String {
    let given = GIVEN.get((customer % 8) as usize).copied().unwrap_or_default();
    format!("{given} {}{}", word(customer * 7 % WORDS), customer)
}

/// The country of a customer.
pub fn country(customer: u64) -> &'static str {
    COUNTRIES.get((customer * 5 % 12) as usize).copied().unwrap_or_default()
}

/// The id of an order.
pub fn id(number: u64) -> String {
    format!("o{number:07}")
}

/// The number of an order by its id.
pub fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix('o')?.parse().ok()
}

/// One of this many orders.
pub fn order(number: u64, of: u64) -> Order {
    let mut random = Random::new(number ^ 0x00dd_e775);
    let customers = (of / ORDERS_A_CUSTOMER).max(1);
    let skus = (of / 20).max(20);
    let items: Vec<Item> = (0..=random.below(12))
        .map(|_| Item { sku: random.below(skus), n: 1 + random.below(9), price: 100 + random.below(50_000) })
        .collect();
    let words = 4 + random.below(12) * random.below(28);
    Order {
        number,
        customer: random.below(customers),
        state: STATES.get(random.below(5) as usize).copied().unwrap_or_default().to_owned(),
        total: items.iter().map(|item| item.n * item.price).sum(),
        // Each another: so an order by it is one.
        placed: 1_700_000_000 + number.wrapping_mul(7_919) % of.max(1) * 3,
        items,
        tags: TAGS.iter().filter(|_| random.below(4) == 0).copied().collect(),
        note: (0..words).map(|_| drawn_word(&mut random)).collect::<Vec<_>>().join(" "),
    }
}

impl Order {
    /// As a document.
    pub fn document(&self) -> Value {
        let item = |item: &Item| json!({"sku": sku(item.sku), "n": item.n, "price": item.price});
        json!({
            "number": self.number,
            "customer": {"id": self.customer, "name": name(self.customer), "country": country(self.customer)},
            "state": self.state,
            "total": self.total,
            "placed": self.placed,
            "items": self.items.iter().map(item).collect::<Vec<_>>(),
            "tags": self.tags,
            "note": self.note,
        })
    }

    fn has_words(&self, words: &[String]) -> bool {
        words.iter().all(|wanted| self.note.split(' ').any(|word| word == wanted))
    }
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Ask {
    /// Orders of a customer.
    Equal {
        /// The customer.
        customer: u64,
    },
    /// Orders whose total lies between these, both included.
    Range {
        /// The least.
        low: u64,
        /// The greatest.
        high: u64,
    },
    /// Orders of a customer, and those of this total and more.
    Or {
        /// The customer.
        customer: u64,
        /// The least total.
        low: u64,
    },
    /// Orders by their ids.
    In {
        /// Their numbers.
        numbers: Vec<u64>,
    },
    /// Orders with an item of a sku, of this many pieces at least.
    Element {
        /// The sku.
        sku: u64,
        /// Pieces.
        least: u64,
    },
    /// Orders of customers whose names begin so.
    Prefix {
        /// The beginning.
        name: String,
    },
    /// Orders with a text within their note. No index helps.
    Contains {
        /// The text.
        part: String,
    },
    /// The greatest orders of a state.
    SortByIndex {
        /// The state.
        state: String,
        /// How many.
        limit: usize,
    },
    /// The newest orders. No index helps.
    Sort {
        /// How many.
        limit: usize,
    },
    /// A page of orders by their total.
    Page {
        /// Orders before it.
        skip: usize,
        /// Orders of it.
        limit: usize,
    },
    /// The sum of totals and the number of orders of each country.
    GroupByCountry,
    /// The same of each state, which an index has with its totals.
    GroupByState,
    /// The different countries.
    Distinct,
    /// Orders with all of these words in their note.
    Words {
        /// The words.
        words: Vec<String>,
    },
    /// Orders with these words one after the other.
    Phrase {
        /// The words.
        words: Vec<String>,
    },
    /// A question of `JSONBench`, 1 to 5, about events.
    JsonBench {
        /// Which.
        question: u8,
    },
    /// Sets the state of a customer's orders, durably.
    Update {
        /// The customer.
        customer: u64,
        /// The state.
        state: String,
    },
}

/// What is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Documents with their ids.
    Documents(Vec<(String, String)>),
    /// Ids of documents.
    Ids(Vec<String>),
    /// A name, a sum and a number of each group.
    Groups(Vec<(String, u64, u64)>),
    /// Values.
    Values(Vec<String>),
    /// How many were changed.
    Changed(u64),
}

impl Ask {
    /// Whether documents come in an order that was asked for.
    pub fn is_ordered(&self) -> bool {
        matches!(self, Ask::SortByIndex { .. } | Ask::Sort { .. } | Ask::Page { .. })
    }

    /// Whether ids are answered, and no documents.
    pub fn wants_ids(&self) -> bool {
        matches!(self, Ask::Contains { .. } | Ask::Words { .. } | Ask::Phrase { .. })
    }

    fn selects(&self, order: &Order) -> bool {
        match self {
            Ask::Equal { customer } | Ask::Update { customer, .. } => order.customer == *customer,
            Ask::Range { low, high } => (*low..=*high).contains(&order.total),
            Ask::Or { customer, low } => order.customer == *customer || order.total >= *low,
            Ask::In { numbers } => numbers.contains(&order.number),
            Ask::Element { sku, least } => order.items.iter().any(|item| item.sku == *sku && item.n >= *least),
            Ask::Prefix { name: begin } => name(order.customer).starts_with(begin.as_str()),
            Ask::Contains { part } => order.note.contains(part.as_str()),
            Ask::SortByIndex { state, .. } => order.state == *state,
            Ask::Words { words } => order.has_words(words),
            Ask::Phrase { words } => {
                order.has_words(words) && format!(" {} ", order.note).contains(&format!(" {} ", words.join(" ")))
            }
            Ask::Sort { .. } | Ask::Page { .. } | Ask::GroupByCountry | Ask::GroupByState | Ask::Distinct => true,
            Ask::JsonBench { .. } => false,
        }
    }

    /// The orders that are selected, in their order if one is asked for. Orders that are alike by it come by their ids,
    /// in its direction.
    pub fn selected<'o>(&self, orders: &'o [Order]) -> Vec<&'o Order> {
        let mut found: Vec<&Order> = if let Ask::In { numbers } = self {
            numbers.iter().filter_map(|number| orders.get(usize::try_from(*number).ok()?)).collect()
        } else {
            orders.iter().filter(|order| self.selects(order)).collect()
        };
        let (skip, limit) = match self {
            Ask::SortByIndex { limit, .. } => {
                found.sort_by_key(|order| std::cmp::Reverse((order.total, order.number)));
                (0, *limit)
            }
            Ask::Sort { limit } => {
                found.sort_by_key(|order| std::cmp::Reverse(order.placed));
                (0, *limit)
            }
            Ask::Page { skip, limit } => {
                found.sort_by_key(|order| (order.total, order.number));
                (*skip, *limit)
            }
            _ => return found,
        };
        found.into_iter().skip(skip).take(limit).collect()
    }

    /// Sums and numbers of groups, by their names.
    pub fn groups(&self, orders: &[Order]) -> Vec<(String, u64, u64)> {
        let mut groups = std::collections::BTreeMap::<String, (u64, u64)>::new();
        for order in orders {
            let of = if *self == Ask::GroupByState { order.state.clone() } else { country(order.customer).to_owned() };
            let group = groups.entry(of).or_default();
            *group = (group.0 + order.total, group.1 + 1);
        }
        groups.into_iter().map(|(name, (sum, count))| (name, sum, count)).collect()
    }
}

/// Asks of a kind, each about something else.
pub fn asks(operation: &str, orders: &[Order], count: usize, random: &mut Random) -> Vec<Ask> {
    (0..count).filter_map(|_| ask(operation, orders, random)).collect()
}

fn ask(operation: &str, orders: &[Order], random: &mut Random) -> Option<Ask> {
    let order = orders.get(random.below(orders.len() as u64) as usize)?;
    let customer = order.customer;
    let words: Vec<String> = order.note.split(' ').map(str::to_owned).collect();
    let pair = random.below((words.len() as u64 - 1).max(1)) as usize;
    Some(match operation {
        "equal" => Ask::Equal { customer },
        "range" => Ask::Range { low: order.total, high: order.total + 400 },
        "or" => {
            let greatest = orders.iter().map(|order| order.total).max()?;
            Ask::Or { customer, low: greatest - greatest / 6 }
        }
        "in_1000" => {
            let mut numbers: Vec<u64> =
                (0..orders.len().min(1000)).map(|_| random.below(orders.len() as u64)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            Ask::In { numbers }
        }
        "elem_match" => order.items.first().map(|item| Ask::Element { sku: item.sku, least: 5 })?,
        "prefix" => Ask::Prefix { name: name(customer).chars().take(9).collect() },
        "substring_scan" => Ask::Contains { part: order.note.get(1..8)?.to_owned() },
        "sort_index" => Ask::SortByIndex { state: order.state.clone(), limit: 100 },
        "sort_scan" => Ask::Sort { limit: 100 },
        "page_100" => Ask::Page { skip: 99 * 20, limit: 20 },
        "group_sum" => Ask::GroupByCountry,
        "group_index" => Ask::GroupByState,
        "distinct" => Ask::Distinct,
        "text_two_words" => {
            let last = words.last()?.clone();
            Ask::Words { words: vec![words.first()?.clone(), last] }
        }
        "text_phrase" => Ask::Phrase { words: words.get(pair..pair + 2)?.to_vec() },
        "update_where" => Ask::Update { customer, state: format!("s{}", random.below(1_000_000)) },
        _ => Ask::JsonBench { question: operation.strip_prefix("jsonbench_")?.parse().ok()? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(count: u64) -> Vec<Order> {
        (0..count).map(|number| order(number, count)).collect()
    }

    #[test]
    fn documents_have_the_sizes_that_are_promised() {
        let lengths: Vec<usize> = orders(500).iter().map(|order| order.document().to_string().len()).collect();
        let (least, most) = (*lengths.iter().min().unwrap(), *lengths.iter().max().unwrap());
        assert!((200..400).contains(&least) && (2000..4000).contains(&most), "{least} to {most}");
    }

    #[test]
    fn every_operation_asks_for_something_that_is_there() {
        let orders = orders(2000);
        let mut random = Random::new(1);
        for operation in [
            "equal",
            "range",
            "or",
            "in_1000",
            "elem_match",
            "prefix",
            "substring_scan",
            "sort_index",
            "sort_scan",
            "text_two_words",
            "text_phrase",
            "update_where",
        ] {
            for ask in asks(operation, &orders, 5, &mut random) {
                let found = ask.selected(&orders).len();
                assert!(found > 0 || operation == "elem_match", "{ask:?}");
                assert!(found < orders.len() / 2, "{ask:?} finds {found}");
            }
        }
        assert_eq!(Ask::GroupByCountry.groups(&orders).iter().map(|(.., count)| count).sum::<u64>(), 2000);
    }

    #[test]
    fn orders_are_theirs_by_ids() {
        assert_eq!(number_of(&id(77)), Some(77));
        assert_eq!(number_of("x1"), None);
    }
}
