/* The button in a column's heading: writes the sort into the page's address, then has the list read again. */
export function SortButton({ field, table = "", sort, down, first = "desc", onSort, children }) {
  const press = () => {
    const order = sort === field ? (down ? "asc" : "desc") : first;
    const address = new URL(window.location.href);
    address.searchParams.set(`${table}sort`, field);
    address.searchParams.set(`${table}order`, order);
    window.history.replaceState(window.history.state, "", address);
    onSort();
  };
  return (
    <button type="button" onClick={press}>
      {children}
    </button>
  );
}
