"""Reports as PDF: A4 pages with facts and tables, in embedded fonts. It knows no vertical."""
