/* Formats values for display: hashes, amounts, times. The state keeps them as the API returned them. */
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import Check from "lucide-react/dist/esm/icons/check.mjs";
import Copy from "lucide-react/dist/esm/icons/copy.mjs";
import ExternalLink from "lucide-react/dist/esm/icons/external-link.mjs";

const shorten = (value, head = 6, tail = 4) =>
  value.length > head + tail + 2 ? `${value.slice(0, head)}…${value.slice(-tail)}` : value;

async function put(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.style.position = "fixed";
  area.style.opacity = "0";
  (document.querySelector("[role=dialog], dialog[open]") || document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/* Whether something was copied a moment ago, and the function that copies. */
function useCopy() {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = useCallback((event, text) => {
    event.preventDefault();
    event.stopPropagation();
    put(text ?? "").then(() => setDone(true), () => {});
  }, []);
  return [done, copy];
}

export function CopyButton({ text, label = "Copy", word, className }) {
  const [done, copy] = useCopy();
  const Icon = done ? Check : Copy;
  return (
    <button type="button" className={className} onClick={(event) => copy(event, text)} aria-label={word ? undefined : done ? "Copied" : label}>
      <Icon size={word ? 15 : 12} className={done ? "done" : ""} aria-hidden="true" />
      {word && (done ? "Copied" : word)}
    </button>
  );
}

export function Hash({ value, label = "address", href, full = false }) {
  if (!value) return <span className="muted">none</span>;
  return (
    <span className="hash">
      <span title={value}>{full ? value : shorten(value)}</span>
      <CopyButton text={value} label={`Copy ${label} ${value}`} />
      {href && (
        <a href={href} target="_blank" rel="noreferrer" aria-label={`Open ${label} ${shorten(value)} in the explorer`}>
          <ExternalLink size={12} aria-hidden="true" />
        </a>
      )}
    </span>
  );
}

/* Base units are decimal strings and may exceed 2^53: BigInt, never floats. Returns the whole units as a plain number
   ("3397.5") and with grouped digits, or the value itself if it is not a number of base units. */
function wholeUnits(value, decimals) {
  const text = String(value ?? "");
  if (!/^\d+$/.test(text)) return { whole: text || "0", rest: "", plain: text };
  const size = Math.max(0, Number(decimals) || 0);
  const padded = text.padStart(size + 1, "0");
  const whole = BigInt(padded.slice(0, padded.length - size));
  const rest = size ? padded.slice(-size).replace(/0+$/, "") : "";
  return { whole: whole.toLocaleString("en-US"), rest, plain: rest ? `${whole}.${rest}` : `${whole}` };
}

const joined = (whole, rest) => (rest ? `${whole}.${rest}` : whole);

/* Cut, never rounded up, so that no one seems to own more; at least `least` decimals are left. */
function cut(whole, rest, digits, least) {
  if (rest.length <= digits) return joined(whole, rest);
  const shown = rest.slice(0, digits);
  if (whole === "0" && /^0*$/.test(shown)) return digits ? `<0.${"1".padStart(digits, "0")}` : "<1";
  return joined(whole, digits <= 2 ? shown : shown.replace(/0+$/, "").padEnd(least, "0"));
}

/* An amount that is cut is a button that copies the exact one; every amount shows it on hover. */
export function Amount({ value, decimals = 18, unit, digits = 6, least = 0 }) {
  const [done, copy] = useCopy();
  const { whole, rest, plain } = wholeUnits(value, decimals);
  const exact = `${joined(whole, rest)}${unit ? ` ${unit}` : ""}`;
  const always = Math.min(least, digits, decimals);
  const text = cut(whole, rest.padEnd(always, "0"), digits, always);
  const shown = (
    <>
      {text}
      {unit && <span className="unit">{unit}</span>}
    </>
  );
  if (rest.length <= digits) return <span className="num nowrap" title={exact}>{shown}</span>;
  return (
    <button type="button" className="num nowrap exact" title={done ? "Copied" : `${exact}. Click to copy.`} onClick={(e) => copy(e, plain)}>
      {shown}
      <span className="sr">{done ? "Copied" : "Copy exact amount"}</span>
      {done && <Check size={12} className="done" aria-hidden="true" />}
    </button>
  );
}

/* One timer for all times on the page. */
const listeners = new Set();
let now = Date.now();
let timer;
const tick = () => {
  now = Date.now();
  listeners.forEach((listener) => listener());
};
const subscribe = (listener) => {
  listeners.add(listener);
  if (!timer) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (!listeners.size) {
      clearInterval(timer);
      timer = undefined;
    }
  };
};
const useText = (make) => useSyncExternalStore(subscribe, make, () => "");

/* The time zone of the page's times: the user's, as the shell sets it. */
let zone = "UTC";
const zoneListeners = new Set();
const onZone = (listener) => {
  zoneListeners.add(listener);
  return () => zoneListeners.delete(listener);
};
const useZone = () => useSyncExternalStore(onZone, () => zone, () => "UTC");

function isKnown(name) {
  try {
    return Boolean(name && new Intl.DateTimeFormat("en-GB", { timeZone: name }));
  } catch {
    return false; // the browser's database is older than the server's
  }
}

export function Zone({ name }) {
  useEffect(() => {
    const next = isKnown(name) ? name : "UTC";
    if (next === zone) return;
    zone = next;
    [...zoneListeners, ...listeners].forEach((listener) => listener());
  }, [name]);
  return null;
}

/* The day in a date field, which browsers write in forms such as 11/28/2027. `value` is the one it begins with. */
export function DateWords({ input, value }) {
  const [given, setGiven] = useState(value || "");
  useEffect(() => {
    const field = document.getElementById(input);
    if (!field) return undefined;
    const read = () => setGiven(field.value);
    read();
    field.addEventListener("input", read);
    return () => field.removeEventListener("input", read);
  }, [input, value]);
  const time = Date.parse(`${given}T00:00:00Z`);
  return Number.isFinite(time) ? <span className="num nowrap">{british(time, { ...DATE, timeZone: "UTC" })}. </span> : null;
}

/* The time now: that of a printed page. */
export function Now() {
  useZone();
  return useText(() => exact(now));
}

export function ZoneNames({ id }) {
  const [names, setNames] = useState([]);
  useEffect(() => setNames(["UTC", ...(Intl.supportedValuesOf?.("timeZone") ?? [])]), []);
  return <datalist id={id}>{names.map((name) => <option key={name} value={name} />)}</datalist>;
}

export function BrowserZone({ current, onUse }) {
  const [own, setOwn] = useState("");
  useEffect(() => setOwn(Intl.DateTimeFormat().resolvedOptions().timeZone || ""), []);
  if (!own || own === current) return null;
  return <button type="button" className="btn small" onClick={() => onUse(own)}>Use {own}</button>;
}

const STEPS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [30 * 86400, 86400, "d"]];
function relative(time) {
  const seconds = Math.round((now - time) / 1000);
  const size = Math.abs(seconds);
  if (size < 5) return seconds < 0 ? "in a moment" : "just now";
  const step = STEPS.find(([limit]) => size < limit);
  if (!step) return day(time);
  /* A past time is rounded down, as an age is; what comes is rounded to the nearest: seven days are "in 7 d". */
  const text = `${Math[seconds < 0 ? "round" : "floor"](size / step[1])} ${step[2]}`;
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}
const DATE = { day: "numeric", month: "short", year: "numeric" };
const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
/* Browsers shorten September to "Sept", the texts of the server to "Sep" as every other month: three letters. */
export const british = (time, form) => new Date(time).toLocaleString("en-GB", form).replace("Sept ", "Sep ");
const inUtc = (time) => `${british(time, { ...DATE, ...TIME, timeZone: "UTC" })} UTC`;
const exact = (time) =>
  zone === "UTC" ? inUtc(time) : british(time, { ...DATE, ...TIME, timeZone: zone, timeZoneName: "short" });
const title = (time) => (zone === "UTC" ? inUtc(time) : `${exact(time)} (${inUtc(time)})`);
const clock = (time) => new Date(time).toLocaleTimeString("en-GB", { timeZone: zone });
const zoned = (time) => british(time, { ...TIME, timeZone: zone, timeZoneName: "short" });
const day = (time) => british(time, { ...DATE, timeZone: zone });

/* `form`: relative | clock | zoned | day | exact. `value`: an ISO string, or seconds since 1970. */
export function When({ value, form = "relative", none = "" }) {
  const time = typeof value === "number" ? value * 1000 : Date.parse(value || "");
  const known = Number.isFinite(time) && time > 0;
  useZone();
  const text = useText(() => {
    if (!known) return none;
    return form === "clock" ? clock(time) : form === "zoned" ? zoned(time) : form === "day" ? day(time) : form === "exact" ? exact(time) : relative(time);
  });
  if (!known) return <span className="muted">{none}</span>;
  return (
    <time className={form === "relative" ? "nowrap ago" : "nowrap"} dateTime={new Date(time).toISOString()} title={title(time)}>
      {text}
    </time>
  );
}

/* How long something took, or has taken so far. */
export function Elapsed({ start, end }) {
  const from = Date.parse(start || "");
  const to = Date.parse(end || "");
  const text = useText(() => {
    if (!Number.isFinite(from)) return "";
    const ms = Math.max(0, (Number.isFinite(to) ? to : now) - from);
    const seconds = Math.floor(ms / 1000);
    if (!Number.isFinite(to)) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 10000) return `${Number((ms / 1000).toFixed(1))} s`;
    return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  });
  return <span className="num">{text}</span>;
}
