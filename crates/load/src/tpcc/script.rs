//! The pages that each transaction visits, in order. Clauses are those of the TPC-C standard, revision 5.11.

use super::TpccMix;
use super::random::{Draws, first_customer};
use super::schema::{CUSTOMERS, DISTRICTS, ORDERS, Schema, Table};
use device::Rng;

/// A transaction's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new_order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order_status",
            Kind::Delivery => "delivery",
            Kind::StockLevel => "stock_level",
        }
    }

    /// Draws a kind by the shares of the mix.
    pub fn draw(mix: &TpccMix, rng: &mut Rng) -> Kind {
        let mut percent = rng.unit() * 100.0;
        for (kind, share) in [
            (Kind::Payment, mix.payment_percent),
            (Kind::OrderStatus, mix.order_status_percent),
            (Kind::Delivery, mix.delivery_percent),
            (Kind::StockLevel, mix.stock_level_percent),
        ] {
            if percent < share {
                return kind;
            }
            percent -= share;
        }
        Kind::NewOrder
    }
}

/// One visit of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    Read(u32),
    Change(u32),
    /// A page begins that was empty: nothing has to be read for it.
    Create(u32),
}

impl Visit {
    pub fn page(self) -> u32 {
        match self {
            Visit::Read(page) | Visit::Change(page) | Visit::Create(page) => page,
        }
    }
}

/// The work of a transaction; the allocation is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub visits: Vec<Visit>,
    /// Log of all its changes.
    pub log_bytes: u64,
    /// It is rolled back at its end.
    pub rolled_back: bool,
    items: Vec<u32>,
}

impl Script {
    fn clear(&mut self) {
        self.visits.clear();
        self.log_bytes = 0;
        self.rolled_back = false;
    }

    fn read(&mut self, table: &Table, row: u64) {
        self.visits.push(Visit::Read(table.page(row)));
    }

    fn change(&mut self, table: &Table, row: u64) {
        self.visits.push(Visit::Change(table.page(row)));
        self.log_bytes += u64::from(table.log_bytes());
    }

    fn append(&mut self, table: &Table, row: u64) {
        if table.begins_page(row) {
            self.visits.push(Visit::Create(table.page(row)));
            self.log_bytes += u64::from(table.log_bytes());
        } else {
            self.change(table, row);
        }
    }
}

/// A district's orders.
#[derive(Clone, Copy, Debug)]
struct District {
    /// D_NEXT_O_ID, counted from 0.
    next: u32,
    /// The oldest order that was not delivered.
    oldest_new: u32,
}

/// Where a transaction is entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    warehouse: u32,
    /// Numbered over all warehouses.
    district: u32,
}

impl Place {
    pub fn draw(districts: u32, rng: &mut Rng) -> Place {
        let district = rng.below(districts.into()) as u32;
        Place { warehouse: district / DISTRICTS, district }
    }
}

/// Contents of the tables, as far as they decide which pages are visited.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    schema: Schema,
    draws: Draws,
    districts: Vec<District>,
    /// The last order of each customer.
    last_orders: Vec<u32>,
    /// Rows of history appended.
    payments: u64,
}

impl Contents {
    /// The initial population: 3,000 orders of each district, of which 900 are to be delivered (clause 4.3.3.1).
    pub fn new(warehouses: u32, page_bytes: u32, seed: u64) -> Contents {
        let schema = Schema::new(warehouses, page_bytes);
        let mut last_orders = vec![0; schema.districts() as usize * CUSTOMERS as usize];
        for district in 0..schema.districts() {
            for order in 0..ORDERS {
                last_orders[Schema::customer_row(district, first_customer(district, order)) as usize] = order;
            }
        }
        let district = District { next: ORDERS, oldest_new: ORDERS - 900 };
        Contents {
            draws: Draws::new(seed),
            districts: vec![district; schema.districts() as usize],
            last_orders,
            payments: 0,
            schema,
        }
    }

    pub fn districts(&self) -> u32 {
        self.schema.districts()
    }

    /// Rows that can be locked: warehouses, then districts.
    pub fn locks(&self) -> u32 {
        self.schema.warehouses() + self.schema.districts()
    }

    /// Rows that a transaction locks before its visits.
    pub fn locks_of(&self, kind: Kind, place: Place) -> [Option<u32>; 2] {
        let district = Some(self.schema.warehouses() + place.district);
        match kind {
            Kind::NewOrder => [district, None],
            Kind::Payment => [Some(place.warehouse), district],
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => [None, None],
        }
    }

    /// Carries a transaction out, and writes down which pages it visits. Its locks are held.
    pub fn write(&mut self, kind: Kind, place: Place, rng: &mut Rng, script: &mut Script) {
        script.clear();
        match kind {
            Kind::NewOrder => self.new_order(place, rng, script),
            Kind::Payment => self.payment(place, rng, script),
            Kind::OrderStatus => self.order_status(place, rng, script),
            Kind::Delivery => (0..DISTRICTS).for_each(|d| self.deliver(place.warehouse * DISTRICTS + d, script)),
            Kind::StockLevel => self.stock_level(place, script),
        }
    }

    /// Clause 2.4: one in a hundred is rolled back at its last item, which does not exist (2.4.1.4); one line in a
    /// hundred is supplied by another warehouse (2.4.1.5).
    fn new_order(&mut self, Place { warehouse, district }: Place, rng: &mut Rng, script: &mut Script) {
        let schema = self.schema;
        script.rolled_back = rng.below(100) == 0;
        let number = self.districts[district as usize].next;
        // A transaction that is rolled back leaves its number to the next order, which has other lines.
        let mut order = self.draws.order(district, if script.rolled_back { !number } else { number });
        script.read(&schema.warehouse, warehouse.into());
        script.read(&schema.customer, Schema::customer_row(district, order.customer));
        script.change(&schema.district, district.into());
        let row = Schema::order_row(district, number);
        script.append(&schema.orders, row);
        // The index is in the order of customers: a page anywhere in the district's part.
        let place_in_index = Schema::order_row(district, order.customer * (ORDERS / CUSTOMERS));
        script.change(&schema.orders_of_customer, place_in_index);
        script.append(&schema.new_orders, row);
        for line in 0..order.lines {
            let item = self.draws.item(&mut order);
            script.read(&schema.item, item.into());
            if script.rolled_back && line + 1 == order.lines {
                break;
            }
            let remote = schema.warehouses() > 1 && rng.below(100) == 0;
            let supplier = if remote { self.other_warehouse(warehouse, rng) } else { warehouse };
            script.change(&schema.stock, Schema::stock_row(supplier, item));
        }
        self.append_lines(district, number, order.lines, script);
        if script.rolled_back {
            return;
        }
        let of_district = &mut self.districts[district as usize];
        of_district.next = number + 1;
        // A ring holds no more than it has room for: the oldest counts as delivered.
        of_district.oldest_new = of_district.oldest_new.max((number + 1).saturating_sub(ORDERS));
        self.last_orders[Schema::customer_row(district, order.customer) as usize] = number;
    }

    /// Clause 2.5: 15 % of the customers pay through another warehouse (2.5.1.2), 60 % are known by their last name.
    fn payment(&mut self, Place { warehouse, district }: Place, rng: &mut Rng, script: &mut Script) {
        let schema = self.schema;
        let of_customer = if schema.warehouses() > 1 && rng.below(100) < 15 {
            self.other_warehouse(warehouse, rng) * DISTRICTS + rng.below(DISTRICTS.into()) as u32
        } else {
            district
        };
        script.change(&schema.warehouse, warehouse.into());
        script.change(&schema.district, district.into());
        let customer = self.find_customer(of_customer, rng, script);
        script.change(&schema.customer, Schema::customer_row(of_customer, customer));
        let rows = u64::from(schema.districts()) * u64::from(CUSTOMERS);
        script.append(&schema.history, self.payments % rows);
        self.payments += 1;
    }

    /// Clause 2.6: the last order of a customer, with its lines.
    fn order_status(&mut self, Place { district, .. }: Place, rng: &mut Rng, script: &mut Script) {
        let schema = self.schema;
        let customer = self.find_customer(district, rng, script);
        let row = Schema::customer_row(district, customer);
        script.read(&schema.customer, row);
        script.read(&schema.orders_of_customer, Schema::order_row(district, customer * (ORDERS / CUSTOMERS)));
        let order = self.last_orders[row as usize];
        // An order that was purged is not found.
        if order + ORDERS >= self.districts[district as usize].next {
            script.read(&schema.orders, Schema::order_row(district, order));
            let lines = self.draws.order(district, order).lines;
            self.visit_lines(district, order, lines, Visit::Read, script);
        }
    }

    /// Clause 2.7: the oldest new order of a district.
    fn deliver(&mut self, district: u32, script: &mut Script) {
        let schema = self.schema;
        let of_district = &mut self.districts[district as usize];
        let number = of_district.oldest_new;
        if number == of_district.next {
            // None is left: the district is passed over (2.7.4.2).
            return;
        }
        of_district.oldest_new += 1;
        let order = self.draws.order(district, number);
        let row = Schema::order_row(district, number);
        script.change(&schema.new_orders, row);
        script.change(&schema.orders, row);
        self.visit_lines(district, number, order.lines, Visit::Change, script);
        script.log_bytes += u64::from(order.lines * schema.lines.log_bytes());
        script.change(&schema.customer, Schema::customer_row(district, order.customer));
    }

    /// Clause 2.8: the stock of the items in a district's last 20 orders.
    fn stock_level(&mut self, Place { warehouse, district }: Place, script: &mut Script) {
        let schema = self.schema;
        script.read(&schema.district, district.into());
        let mut items = std::mem::take(&mut script.items);
        items.clear();
        let next = self.districts[district as usize].next;
        for number in next - 20..next {
            let mut order = self.draws.order(district, number);
            self.visit_lines(district, number, order.lines, Visit::Read, script);
            items.extend((0..order.lines).map(|_| self.draws.item(&mut order)));
        }
        items.sort_unstable();
        items.dedup();
        items.iter().for_each(|&item| script.read(&schema.stock, Schema::stock_row(warehouse, item)));
        script.items = items;
    }

    /// Finds a customer by number, or by last name: then all of that name are read (2.5.2.2, 2.6.2.2).
    fn find_customer(&self, district: u32, rng: &mut Rng, script: &mut Script) -> u32 {
        if rng.below(100) >= 60 {
            return self.draws.customer(rng);
        }
        let (first, customers) = self.draws.name(rng);
        script.read(&self.schema.names, Schema::customer_row(district, first));
        for &customer in customers {
            script.read(&self.schema.customer, Schema::customer_row(district, customer.into()));
        }
        // By first name, which has nothing to do with the number; the one in the middle is as good as any.
        customers[(customers.len() - 1) / 2].into()
    }

    fn append_lines(&self, district: u32, order: u32, lines: u32, script: &mut Script) {
        let (first, table) = (Schema::line_row(district, order), &self.schema.lines);
        script.log_bytes += u64::from(lines * table.log_bytes());
        let begun = script.visits.len();
        self.visit_lines(district, order, lines, Visit::Change, script);
        for visit in &mut script.visits[begun..] {
            // The order before has five lines at least, half of its room: a page that begins behind these is new.
            if table.first_row(visit.page()) + 5 >= first {
                *visit = Visit::Create(visit.page());
            }
        }
    }

    fn visit_lines(&self, district: u32, order: u32, lines: u32, visit: fn(u32) -> Visit, script: &mut Script) {
        let (first, table) = (Schema::line_row(district, order), &self.schema.lines);
        let last = (first + u64::from(lines) - 1).min(self.schema.line_rows() - 1);
        script.visits.extend((table.page(first)..=table.page(last)).map(visit));
    }

    fn other_warehouse(&self, warehouse: u32, rng: &mut Rng) -> u32 {
        let other = rng.below(u64::from(self.schema.warehouses()) - 1) as u32;
        if other < warehouse { other } else { other + 1 }
    }
}

#[cfg(test)]
impl Contents {
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn draws(&self) -> &Draws {
        &self.draws
    }
}
