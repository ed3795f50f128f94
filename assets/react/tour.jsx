/* A guided tour: outlines the control of the present step, keeps the progress in the browser, and asks regularly whether
   the step has happened. */
import { useEffect, useRef } from "react";
import { useLocation } from "react-router";

const CONTROLS = "a, button, [role=tab], input, summary";

const isShown = (element) => {
  if (!element.getClientRects().length || element.disabled || element.ariaDisabled === "true") return false;
  const open = document.querySelector("[role=dialog][data-state=open], dialog[open]");
  return !open || open.contains(element);
};

const names = (control) => {
  const label = control.getAttribute("aria-label") || control.labels?.[0]?.textContent;
  return label ? [label] : [control.textContent, control.querySelector(".sr")?.textContent || ""];
};

/* A box to tick is too small to notice: its label is outlined. The name in a list has a line below it, which an outline of
   the name alone would cross: its cell or item is outlined. */
const marked = (control) => {
  if (["checkbox", "radio"].includes(control.type)) return control.closest("label") || control;
  return control.matches("td .name, .item .title") ? control.closest("td, .item") : control;
};

/* Whether a place is in the drawer of a record: its heading has the record's name. */
const isAbout = (place, name) => !name || (place.closest("aside")?.querySelector("h2")?.textContent || "").includes(name);

/* A choice that the person has made already, also another one than the first. */
const isMade = (control) => {
  const others = control.type === "radio" ? [...(control.form?.elements[control.name] ?? [])] : [];
  return control.checked || others.some((one) => one.checked && !one.defaultChecked);
};

const find = ({ within, words, about, filled }) => {
  for (const place of document.querySelectorAll(within)) {
    if (!isAbout(place, about)) continue;
    for (const control of place.querySelectorAll(CONTROLS)) {
      if (!names(control).some((name) => name.trim().startsWith(words)) || isMade(control) || !isShown(control)) continue;
      if (filled && missing(control.form)) continue;
      return marked(control);
    }
  }
  return null;
};

/* The first field without a value that its form needs; a name that is typed and not chosen yet is no value. */
const missing = (form) => {
  const isMissing = (one) => one.validity?.valueMissing || (one.ariaRequired === "true" && !one.value) || one.hasAttribute("data-unset");
  return [...(form?.elements ?? [])].find((one) => isMissing(one) && one.getClientRects().length);
};

const forget = () => document.querySelectorAll("[data-tour]").forEach((element) => element.removeAttribute("data-tour"));

/* Whether a control is where one would press it: within the window, not scrolled out of its drawer, not under the card. */
const isInView = (element) => {
  const own = element.getBoundingClientRect();
  const at = document.elementFromPoint((own.left + own.right) / 2, (own.top + own.bottom) / 2);
  return Boolean(at) && element.contains(at);
};

/* "Show me" leads to the page, and then to the control, which stands out for a moment. The page is read piece by piece:
   later pieces move the control, or have a better one. So it is led to until the person does something else, and for
   WISH at most. The link is outlined too while the control is out of view. */
let wish = { until: 0, led: null };
const MOMENT = 1200;
const WISH = 5000;
const ACTS = ["pointerdown", "keydown", "wheel", "touchmove"];

const emphasize = (element) => {
  element.setAttribute("data-tour-now", "");
  setTimeout(() => element.removeAttribute("data-tour-now"), MOMENT);
};

/* Whether a link leads to the page that is open, in the same tab and with the same drawer. */
const isHere = (link) => {
  const [to, at] = [new URL(link.href), new URL(window.location.href)];
  return to.pathname === at.pathname && [...to.searchParams].every(([name, value]) => at.searchParams.get(name) === value);
};

const want = (event) => {
  const link = event.target.closest?.(".tour a");
  if (!link) return;
  wish = { until: Date.now() + WISH, led: null };
  if (isHere(link)) event.preventDefault(); // the page would load again, without what was entered
};

/* Any action ends the wish: the page must not scroll against the person. The press of the link comes before its click. */
const act = () => {
  wish.until = 0;
};

const lead = (found) => {
  const link = document.querySelector(".tour a");
  const isHidden = Boolean(found) && !isInView(found);
  const isWanted = Date.now() < wish.until;
  // A person who types is at the right place, also while a list covers the field.
  const isTyping = Boolean(document.activeElement?.matches("main input, [role=dialog] input, aside input"));
  link?.toggleAttribute("data-tour-too", isHidden && !isWanted && !isTyping);
  if (!found || !link || !isWanted || !isHere(link)) return;
  if (isHidden) found.scrollIntoView({ block: "center" });
  if (found !== wish.led) emphasize(found);
  wish.led = found;
};

/* The first field that a button's form still needs; or the button itself. */
const needed = (button) => {
  const field = button.type === "submit" && missing(button.form);
  return field ? field.closest(".field") || field : button;
};

/* Tells the style sheet where the card is: what darkens the page behind a dialog leaves it readable, and what sticks to
   the bottom of the page is above it. */
const leaveHole = () => {
  const card = document.querySelector(".tour:not(.left)")?.getBoundingClientRect();
  if (!card) return;
  document.documentElement.style.setProperty("--tour-top", `${Math.round(window.innerHeight - card.top)}px`);
  const [left, top, right, bottom] = [card.left, card.top, card.right, card.bottom].map(Math.round);
  const turn = (x, y) => `A12 12 0 0 1 ${x} ${y}`; // the card's corners are round
  const hole = [
    `M${left + 12} ${top}H${right - 12}`, turn(right, top + 12), `V${bottom - 12}`, turn(right - 12, bottom),
    `H${left + 12}`, turn(left, bottom - 12), `V${top + 12}`, turn(left + 12, top), "Z",
  ].join("");
  document.documentElement.style.setProperty("--tour-hole", `path(evenodd, "M0 0H9999V9999H0Z${hole}")`);
};

const outline = (points) => {
  leaveHole();
  let found = null;
  for (const point of points) if ((found = find(point))) break;
  found &&= needed(found);
  lead(found);
  if (found?.hasAttribute("data-tour")) return;
  forget();
  found?.setAttribute("data-tour", "");
};

const KEY = "signum_tour";

/* On the sign-in page: outlines the person of the demo who can decide what the tour's request waits for. */
export function Colleague() {
  useEffect(() => {
    const draw = setInterval(() => {
      const name = JSON.parse(localStorage.getItem(KEY) || "{}").facts?.colleague;
      const people = [...document.querySelectorAll(".demo-person")];
      const found = name && people.find((one) => one.textContent.includes(name));
      if (found && !found.hasAttribute("data-tour")) found.setAttribute("data-tour", "");
    }, 250);
    return () => clearInterval(draw);
  }, []);
  return null;
}

export function Guide({ points = [], pause, stored = "", role = "", onLook }) {
  const { pathname } = useLocation();
  const latest = useRef({ points, onLook });
  useEffect(() => {
    latest.current = { points, onLook };
  });
  useEffect(() => {
    const look = () => {
      const kept = localStorage.getItem(KEY);
      if (kept && !document.hidden) latest.current.onLook?.(kept);
    };
    look();
    const again = setInterval(look, pause);
    return () => clearInterval(again);
  }, [pathname, pause, role]); // the first look comes before the person's role is known
  useEffect(() => {
    if (stored === "ended") localStorage.removeItem(KEY);
    else if (stored) localStorage.setItem(KEY, stored);
  }, [stored]);
  useEffect(() => {
    const draw = setInterval(() => outline(latest.current.points), 250);
    document.addEventListener("click", want, true);
    for (const name of ACTS) document.addEventListener(name, act, { capture: true, passive: true });
    return () => {
      clearInterval(draw);
      document.removeEventListener("click", want, true);
      for (const name of ACTS) document.removeEventListener(name, act, true);
      forget();
    };
  }, []);
  return null;
}
