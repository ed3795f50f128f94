"""What an investor (role `client`) sees of an organization in the console: their own holdings, eligibility, orders and
claims."""
