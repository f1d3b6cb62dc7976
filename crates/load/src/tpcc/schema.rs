//! Where the rows of the nine tables lie: tables and two indexes, each a run of pages.
//!
//! Tables lie in the order of their primary keys, as InnoDB keeps them; the upper levels of the trees are in memory and
//! not visited. The tables that grow are rings of the initial population (clause 4.3.3): the newest 3,000 orders of
//! each district are there, as where old ones are purged.

/// Rows of each table (clauses 1.2 and 4.3.3).
pub(super) const DISTRICTS: u32 = 10;
pub(super) const CUSTOMERS: u32 = 3_000;
pub(super) const ITEMS: u32 = 100_000;
/// Orders that a district keeps.
pub(super) const ORDERS: u32 = 3_000;
/// Mean lines of an order, of 5 to 15: an order's lines begin at ten times its number.
const LINES: u32 = 10;

/// Bytes that a page's row takes besides its columns: header, transaction, pointer of the page's directory. Assumed.
const ROW_OVERHEAD: u32 = 20;
/// Bytes that a log record has besides the row. Assumed.
const LOG_OVERHEAD: u32 = 60;

/// A run of pages with rows of one size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    first_page: u32,
    rows_per_page: u32,
    row_bytes: u32,
}

impl Table {
    /// Returns the page of a row.
    pub fn page(&self, row: u64) -> u32 {
        self.first_page + (row / u64::from(self.rows_per_page)) as u32
    }

    /// Returns the first row of a page.
    pub fn first_row(&self, page: u32) -> u64 {
        u64::from(page - self.first_page) * u64::from(self.rows_per_page)
    }

    /// Returns whether a row that is appended begins a page, which then has not to be read.
    pub fn begins_page(&self, row: u64) -> bool {
        row.is_multiple_of(self.rows_per_page.into())
    }

    /// Bytes that the log gets for a changed or inserted row.
    pub fn log_bytes(&self) -> u32 {
        self.row_bytes + LOG_OVERHEAD
    }
}

/// The database's pages. Rows are numbered by warehouse, then district.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema {
    pub warehouse: Table,
    pub district: Table,
    pub item: Table,
    pub stock: Table,
    pub customer: Table,
    /// The index of customers by warehouse, district and last name.
    pub names: Table,
    pub orders: Table,
    /// The index of orders by warehouse, district and customer.
    pub orders_of_customer: Table,
    pub new_orders: Table,
    pub lines: Table,
    pub history: Table,
    warehouses: u32,
    pages: u32,
}

impl Schema {
    pub fn new(warehouses: u32, page_bytes: u32) -> Schema {
        let of_district = u64::from(warehouses) * u64::from(DISTRICTS);
        let mut pages = 0_u64;
        // Trees that are filled in order leave a sixteenth of each page free.
        let room = page_bytes - page_bytes / 16;
        let mut table = |rows: u64, row_bytes: u32| {
            let first_page = pages as u32;
            let rows_per_page = (room / (row_bytes + ROW_OVERHEAD)).max(1);
            pages += rows.div_ceil(rows_per_page.into());
            Table { first_page, rows_per_page, row_bytes }
        };
        // Typical lengths of rows; those of the two indexes are their keys'.
        let schema = Schema {
            warehouse: table(warehouses.into(), 89),
            district: table(of_district, 95),
            item: table(ITEMS.into(), 82),
            stock: table(u64::from(warehouses) * u64::from(ITEMS), 306),
            customer: table(of_district * u64::from(CUSTOMERS), 655),
            names: table(of_district * u64::from(CUSTOMERS), 40),
            orders: table(of_district * u64::from(ORDERS), 24),
            orders_of_customer: table(of_district * u64::from(ORDERS), 16),
            new_orders: table(of_district * u64::from(ORDERS), 8),
            lines: table(of_district * u64::from(ORDERS * LINES), 54),
            history: table(of_district * u64::from(CUSTOMERS), 46),
            warehouses,
            pages: 0,
        };
        Schema { pages: u32::try_from(pages).expect("the limit of warehouses keeps page numbers in 32 bits"), ..schema }
    }

    pub fn pages(&self) -> u32 {
        self.pages
    }

    pub fn warehouses(&self) -> u32 {
        self.warehouses
    }

    pub fn districts(&self) -> u32 {
        self.warehouses * DISTRICTS
    }

    /// Returns the row of an order, and of what else a district's ring of orders has one row for.
    pub fn order_row(district: u32, order: u32) -> u64 {
        u64::from(district) * u64::from(ORDERS) + u64::from(order % ORDERS)
    }

    /// Returns the first row of an order's lines.
    pub fn line_row(district: u32, order: u32) -> u64 {
        Schema::order_row(district, order) * u64::from(LINES)
    }

    /// Rows of order lines that there is room for.
    pub fn line_rows(&self) -> u64 {
        u64::from(self.districts()) * u64::from(ORDERS * LINES)
    }

    pub fn customer_row(district: u32, customer: u32) -> u64 {
        u64::from(district) * u64::from(CUSTOMERS) + u64::from(customer)
    }

    pub fn stock_row(warehouse: u32, item: u32) -> u64 {
        u64::from(warehouse) * u64::from(ITEMS) + u64::from(item)
    }
}
