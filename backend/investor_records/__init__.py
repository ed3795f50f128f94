"""What an organization keeps about an investor (role `client`), for the investor: their documents, their data, and the
membership, which they may end."""
