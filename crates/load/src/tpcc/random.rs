//! Draws of TPC-C: non-uniform numbers, last names, and the contents of an order.

use super::schema::{CUSTOMERS, ITEMS, ORDERS};
use device::Rng;

/// NURand(A, x, y) of clause 2.1.6, counted from 0: hot spots whose places the constant decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonUniform {
    a: u64,
    c: u64,
    x: u64,
    count: u64,
}

impl NonUniform {
    pub fn new(a: u64, x: u64, count: u32, rng: &mut Rng) -> NonUniform {
        NonUniform { a, c: rng.below(a + 1), x, count: count.into() }
    }

    pub fn draw(&self, rng: &mut Rng) -> u32 {
        let (first, second) = (rng.below(self.a + 1), self.x + rng.below(self.count));
        (((first | second) + self.c) % self.count) as u32
    }
}

/// Draws that all sessions have in common.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    seed: u64,
    customer: NonUniform,
    item: NonUniform,
    name: NonUniform,
    /// Customers of each last name, and the place of the first in the index by name. Districts are alike.
    names: Vec<(u32, Vec<u16>)>,
}

/// Last names (clause 4.3.2.3).
const NAMES: u32 = 1_000;

/// An order, the same whenever it is asked for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub customer: u32,
    /// 5 to 15 (clause 2.4.1.3).
    pub lines: u32,
    rng: Rng,
}

impl Draws {
    pub fn new(seed: u64) -> Draws {
        let mut rng = Rng::stream(seed, "tpcc constants");
        let customer = NonUniform::new(1_023, 1, CUSTOMERS, &mut rng);
        let item = NonUniform::new(8_191, 1, ITEMS, &mut rng);
        let name = NonUniform::new(255, 0, NAMES, &mut rng);
        // The first thousand customers have a name each, the others' are drawn (clause 4.3.3.1).
        let mut customers = vec![Vec::new(); NAMES as usize];
        for c in 0..CUSTOMERS {
            let of = if c < NAMES { c } else { name.draw(&mut rng) };
            customers[of as usize].push(c as u16);
        }
        let mut first = 0;
        let names = customers
            .into_iter()
            .map(|customers| {
                let at = first;
                first += customers.len() as u32;
                (at, customers)
            })
            .collect();
        Draws { seed, customer, item, name, names }
    }

    pub fn customer(&self, rng: &mut Rng) -> u32 {
        self.customer.draw(rng)
    }

    /// A last name: the place of its first customer in the index, and its customers.
    pub fn name(&self, rng: &mut Rng) -> (u32, &[u16]) {
        let (first, customers) = &self.names[self.name.draw(rng) as usize];
        (*first, customers)
    }

    /// An item of an order, drawn in the order of its lines.
    pub fn item(&self, order: &mut Order) -> u32 {
        self.item.draw(&mut order.rng)
    }

    /// The order of a district by its number. The first of each customer are a permutation (clause 4.3.3.1).
    pub fn order(&self, district: u32, number: u32) -> Order {
        let place = (u64::from(district) << 32 | u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Rng::stream(self.seed ^ place, "tpcc order");
        let lines = 5 + rng.below(11) as u32;
        let drawn = self.customer.draw(&mut rng);
        let customer = if number < ORDERS { first_customer(district, number) } else { drawn };
        Order { customer, lines, rng }
    }
}

/// Customers of the initial orders.
pub(super) fn first_customer(district: u32, number: u32) -> u32 {
    // 1009 is a prime that does not divide the number of customers.
    (number * 1_009 + district % CUSTOMERS * 17) % CUSTOMERS
}

#[cfg(test)]
impl NonUniform {
    /// The exact probability of each number. A number whose lower bits are `l` comes from all parts of `l` of the second
    /// draw, each with two to the number of its bits of the first: three to the number of bits of `l` pairs, where the
    /// second draw has all lower bits.
    pub fn probabilities(&self) -> Vec<f64> {
        let NonUniform { a, c, x, count } = *self;
        let mut pairs = vec![0.0; count as usize];
        let mut add = |number: u64, weight: f64| pairs[((number + c) % count) as usize] += weight;
        let missing = |second: &u64| !(x..x + count).contains(second);
        for block in 0..=(x + count) / (a + 1) {
            let seconds = block * (a + 1)..(block + 1) * (a + 1);
            let mostly_there = seconds.clone().filter(missing).count() as u64 <= a / 2;
            if mostly_there {
                (0..=a).for_each(|low| add(block * (a + 1) + low, 3_f64.powi(low.count_ones() as i32)));
            }
            for second in seconds.filter(|second| missing(second) == mostly_there) {
                (0..=a).for_each(|first| add(first | second, if mostly_there { -1.0 } else { 1.0 }));
            }
        }
        let draws = (a + 1) as f64 * count as f64;
        pairs.into_iter().map(|pairs| pairs / draws).collect()
    }
}

#[cfg(test)]
impl Draws {
    pub fn customers(&self) -> &NonUniform {
        &self.customer
    }

    pub fn items(&self) -> &NonUniform {
        &self.item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_all_pairs_of_draws() {
        let number = NonUniform { a: 15, c: 11, x: 1, count: 100 };
        let mut pairs = vec![0.0; 100];
        for first in 0..16_u64 {
            (1..101).for_each(|second| pairs[(((first | second) + 11) % 100) as usize] += 1.0 / 1_600.0);
        }
        for (p, q) in number.probabilities().iter().zip(&pairs) {
            assert!((p - q).abs() < 1e-12, "{p} {q}");
        }
        let mut rng = Rng::stream(1, "test");
        let mut drawn = vec![0.0; 100];
        (0..1_000_000).for_each(|_| drawn[number.draw(&mut rng) as usize] += 1e-6);
        for (p, q) in drawn.iter().zip(&pairs) {
            assert!((p - q).abs() < 5.0 * (q / 1e6_f64).sqrt(), "{p} {q}");
        }
    }
}
