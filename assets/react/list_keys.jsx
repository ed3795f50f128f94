/* J and K move through a list, Escape closes the panel beside it. */
import { useEffect, useRef } from "react";

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable=true], [role=combobox]");
const busy = () => document.querySelector("[role=dialog][data-state=open], [role=alertdialog], dialog[open]");
const STEPS = { j: 1, k: -1 };
const GO = 1500; /* Milliseconds after `g` in which the next key opens a page. */

export function ListKeys({ onStep, onLeave }) {
  const latest = useRef({});
  useEffect(() => {
    latest.current = { onStep, onLeave };
  });
  useEffect(() => {
    let going = 0;
    const down = (event) => {
      if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || busy()) return;
      const key = event.key.toLowerCase();
      const goes = Date.now() - going < GO;
      going = key === "g" ? Date.now() : 0;
      if (key === "escape") latest.current.onLeave?.();
      else if (STEPS[key] && !goes) latest.current.onStep?.(STEPS[key]);
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
  return null;
}
