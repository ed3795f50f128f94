"""Stories: operations of issuers through the API, on public chains behind node pools, while the server is killed."""
