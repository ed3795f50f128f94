/* J and K move through a list, Escape closes the panel beside it. Where rows can be marked: Space or X marks the row,
   Shift with J or K marks the next one, A goes to the actions. */
import { useEffect, useRef } from "react";

const typing = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=combobox]");
const acting = (target) => target.closest?.("input, button, a, summary, label, [role=button], [role=listbox], [role=tree]");
const busy = () => document.querySelector("[role=dialog][data-state=open], [role=alertdialog], dialog[open]");
const STEPS = { j: 1, k: -1 };
const GO = 1500; /* Milliseconds after `g` in which the next key opens a page. */

export function ListKeys({ onStep, onLeave, onMark, onMarkNext }) {
  const latest = useRef({});
  useEffect(() => {
    latest.current = { onStep, onLeave, onMark, onMarkNext };
  });
  useEffect(() => {
    let going = 0;
    const down = (event) => {
      if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || busy()) return;
      const key = event.key.toLowerCase();
      const goes = Date.now() - going < GO;
      going = key === "g" ? Date.now() : 0;
      if (key === "escape") latest.current.onLeave?.();
      else if (goes) return;
      else if (STEPS[key] && event.shiftKey && latest.current.onMarkNext) latest.current.onMarkNext(STEPS[key]);
      else if (STEPS[key]) latest.current.onStep?.(STEPS[key]);
      else if (latest.current.onMark && (key === "x" || (key === " " && !acting(event.target)))) {
        event.preventDefault();
        latest.current.onMark();
      } else if (latest.current.onMark && key === "a") {
        document.querySelector("[data-marks] .btn:not(:disabled)")?.focus();
      }
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
  return null;
}
