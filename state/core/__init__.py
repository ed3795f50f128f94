"""State shared by all pages: API calls, session, forms and paging."""
