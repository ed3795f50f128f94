/* Keeps the page's URL equal to what the page shows, without a navigation. Filters replace the URL; what `adds` names
   adds an entry to the history, so that Back undoes it: the router then loads the page for the earlier URL. */
import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const isAdded = (how, usual, before, now) =>
  before !== now && (how === "change" || (how === "opening" && (before === usual || now === usual)));

/* The router tells entries of the same path apart by their keys: one that it has not seen makes Back load the page. */
const entry = () => ({ ...window.history.state, key: crypto.randomUUID?.() ?? String(Math.random()) });

export function Address({ values, usual, adds, ready }) {
  const shown = useRef(null);
  const isNew = useRef(true);
  const added = useRef("");
  const router = useLocation();
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value ?? "")]));
  const key = JSON.stringify(texts);
  useEffect(() => {
    const before = shown.current;
    const arrives = isNew.current;
    isNew.current = false;
    shown.current = ready ? texts : null;
    /* Until a page has loaded, its states may be those of an earlier visit; on arrival, `ready` is still the last page's. */
    if (!ready || arrives) return;
    /* Between a press of a link and the next page, the URL is already the next page's. */
    const place = window.history.state?.key ?? "default";
    if (!window.location.pathname.endsWith(router.pathname) || (place !== router.key && place !== added.current)) return;
    const url = new URL(window.location.href);
    for (const [name, value] of Object.entries(texts)) {
      if (value === usual[name]) url.searchParams.delete(name);
      else if (url.searchParams.get(name) !== value) url.searchParams.set(name, value);
    }
    if (url.search === window.location.search) return;
    const adding = before && Object.keys(texts).some((name) => isAdded(adds[name], usual[name], before[name], texts[name]));
    try {
      if (adding) window.history.replaceState(entry(), "");
      window.history[adding ? "pushState" : "replaceState"](adding ? entry() : window.history.state, "", url);
      if (adding) added.current = window.history.state.key;
    } catch {
      /* Browsers limit how often a page may do this. The next change writes every value. */
    }
  }, [key, ready]);
  return null;
}
