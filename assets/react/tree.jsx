/* The keyboard of a tree whose rows the server holds. Tab leaves; only the tree's own keys are kept from the page. */
import { useEffect, useRef } from "react";

const OURS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "Enter", " "]);

export function Tree({ label, active, onKey, onType, children }) {
  const ref = useRef(null);
  const typed = useRef({ text: "", at: 0 });
  useEffect(() => {
    if (active) document.getElementById(active)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const keys = (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea")) return;
    if (OURS.has(event.key)) {
      event.preventDefault();
      onKey?.(event.key === " " ? "Enter" : event.key);
    } else if (event.key.length === 1 && event.key !== "/" && event.key !== "?") {
      const seen = typed.current;
      seen.text = Date.now() - seen.at < 700 ? seen.text + event.key : event.key;
      seen.at = Date.now();
      event.stopPropagation();
      onType?.(seen.text);
    }
  };
  return (
    <div ref={ref} className="tree" role="tree" aria-label={label} tabIndex={0} aria-activedescendant={active || undefined} onKeyDown={keys}>
      {children}
    </div>
  );
}
