/* Keyboard control of a tree whose rows the server holds. Tab leaves the tree; only the tree's own keys are intercepted.
   The browser may hold a window of the rows: `above` is the number of rows before it, `total` that of all rows. */
import { useEffect, useRef, useState } from "react";

const OURS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "Enter", " "]);

export function Tree({ label, active, above = 0, total = 0, onWindow, onKey, onType, children }) {
  const ref = useRef(null);
  const wait = useRef();
  const [shown, setShown] = useState(0);
  useEffect(() => () => clearTimeout(wait.current), []);
  useEffect(() => {
    setShown(ref.current.querySelectorAll("[role=treeitem]").length);
  });
  const typed = useRef({ text: "", at: 0 });
  useEffect(() => {
    const row = active && document.getElementById(active);
    const box = ref.current;
    if (!row || !box) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top - 4;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 4;
  }, [active, above]);
  const scrolled = () => {
    clearTimeout(wait.current);
    wait.current = setTimeout(() => {
      const box = ref.current;
      const height = box?.querySelector("[role=treeitem]")?.offsetHeight;
      if (!height || !onWindow) return;
      const first = Math.floor(box.scrollTop / height);
      const last = first + Math.ceil(box.clientHeight / height);
      if (first < above || (last > above + shown && above + shown < total)) onWindow(first);
    }, 50);
  };
  const gap = (rows) => rows > 0 && <div role="none" style={{ height: `calc(var(--tree-row) * ${rows})` }} />;
  const keys = (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea")) return;
    const isTyping = event.key === " " && typed.current.text && Date.now() - typed.current.at < 700;
    if (OURS.has(event.key) && !isTyping) {
      event.preventDefault();
      onKey?.(event.key === " " ? "Enter" : event.key);
    } else if (event.key.length === 1 && event.key !== "/" && event.key !== "?") {
      const seen = typed.current;
      seen.text = Date.now() - seen.at < 700 ? seen.text + event.key : event.key;
      seen.at = Date.now();
      event.preventDefault();
      event.stopPropagation();
      onType?.(seen.text);
    }
  };
  return (
    <div
      ref={ref} className="tree" role="tree" aria-label={label} tabIndex={0} onKeyDown={keys} onScroll={scrolled}
      aria-activedescendant={active || undefined}
    >
      {gap(above)}
      {children}
      {gap(total - above - shown)}
    </div>
  );
}
