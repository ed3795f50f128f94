/* A slider over the days from one date to another, and a date field for the same value. `onPick` is called once the value
   has not changed for a third of a second. */
import { useEffect, useId, useRef, useState } from "react";
import { british } from "$/public/react/format.jsx";

const DAY = 86_400_000;
const REST = 350;
const number = (day) => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY);
const text = (n) => new Date(n * DAY).toISOString().slice(0, 10);
const words = (day) => british(`${day}T00:00:00Z`, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

export function DateSlider({ label, first, last, value, now = "", busy = false, onPick }) {
  const id = useId();
  const wait = useRef();
  const [moved, setMoved] = useState(null);
  useEffect(() => setMoved(null), [value, first, last]);
  useEffect(() => () => clearTimeout(wait.current), []);
  const shown = moved ?? (value || last);
  const pick = (day, delay) => {
    if (!day || day < first || day > last) return;
    setMoved(day);
    clearTimeout(wait.current);
    wait.current = setTimeout(() => onPick?.(day), delay);
  };
  const said = now && shown === last ? now : words(shown);
  return (
    <div className="date-slider" aria-busy={busy}>
      <label htmlFor={`${id}r`} className="label">{label}</label>
      <input
        id={`${id}r`} type="range" min={Math.min(number(first), number(last) - 1)} max={number(last)} step={1} value={number(shown)} disabled={first === last}
        aria-valuetext={said}
        onChange={(event) => pick(text(Number(event.target.value)), REST)}
      />
      <span className="said num" aria-hidden="true">{said}</span>
      <input
        type="date" className="input" aria-label={`${label}, date`} min={first} max={last} value={shown}
        onChange={(event) => pick(event.target.value, REST)}
      />
    </div>
  );
}

/* Highlights the elements inside that have the same `data-n` as the one under the pointer or with the focus. */
export function Linked({ className, children }) {
  const box = useRef(null);
  const light = (event) => {
    const n = event.target.closest?.("[data-n]")?.dataset.n;
    box.current.toggleAttribute("data-lit", n !== undefined);
    for (const one of box.current.querySelectorAll("[data-n]")) one.toggleAttribute("data-lit", one.dataset.n === n);
  };
  const rest = () => {
    box.current.toggleAttribute("data-lit", false);
    for (const one of box.current.querySelectorAll("[data-lit]")) one.toggleAttribute("data-lit", false);
  };
  return (
    <div ref={box} className={className} onPointerOver={light} onPointerLeave={rest} onFocus={light} onBlur={rest}>{children}</div>
  );
}
