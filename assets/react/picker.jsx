/* A field with a list below it: combobox by keyboard, list by mouse. Items: {id, label, sub, hint, keys, depth, group, href, off}.
   With `onSearch`, `foundFor` is the text that the items were found for; those with `local` are filtered here,
   by their `words` too; those that are `late` are listed only once there is a text. */
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { useNavigate } from "react-router";
import Check from "lucide-react/dist/esm/icons/check.mjs";
import Search from "lucide-react/dist/esm/icons/search.mjs";
import { useHighlight } from "$/public/react/highlight.jsx";

/* Milliseconds without a letter that end a word. */
const PAUSE = 150;
/* Letters that a search reads. */
const MOST = 100;

export function Picker({
  items = [], foundFor, value, onSearch, onPick, label, placeholder, none = "Nothing found", framed = false, focused = false,
  local = false, onDone, name, search = false,
}) {
  const id = useId();
  const [text, setText] = useState("");
  const field = useRef(null);
  const list = useRef(null);
  const wait = useRef();
  const typed = useRef(0);
  const navigate = useNavigate();
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return items.filter((item) => !item.late);
    const isFound = (item) => {
      const own = `${item.label} ${item.sub ?? ""} ${item.words ?? ""}`.toLowerCase();
      return wanted.split(/\s+/).every((word) => own.includes(word));
    };
    return items.filter((item) => !(local || item.local) || isFound(item));
  }, [items, text, local]);
  const isCurrent = !onSearch || foundFor === text;
  const isOld = (item) => !isCurrent && !item?.local;
  const pick = (item) => {
    if (!item || item.off) return;
    onDone?.();
    onPick?.(item.id);
    if (search) setText("");
    if (item.href) navigate(item.href);
  };
  const { at, move, enter } = useHighlight({ items: shown, isCurrent, isOld, field, pick });
  useEffect(() => () => clearTimeout(wait.current), []);
  useEffect(() => {
    list.current?.querySelector("[data-active=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const change = (event) => {
    const next = event.target.value;
    setText(next);
    move(null);
    clearTimeout(wait.current);
    if (!onSearch) return;
    /* A pasted text, or a letter after a pause, is searched immediately; within a word, the search waits for its end. */
    const pause = Date.now() - typed.current > PAUSE ? 0 : PAUSE;
    typed.current = Date.now();
    wait.current = setTimeout(() => onSearch(next), pause);
  };
  const keys = (event) => {
    const last = shown.length - 1;
    const to = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), PageDown: Math.min(last, at + 8), PageUp: Math.max(0, at - 8) }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    }
  };

  let group;
  return (
    <div className={`picker${framed ? " framed" : ""}`}>
      <div className="affix start">
        <Search size={15} aria-hidden="true" />
        <input
          className="input" type="text" role="combobox" autoComplete="off" spellCheck="false" aria-label={label}
          placeholder={placeholder} aria-expanded={shown.length > 0} aria-controls={`${id}l`} aria-autocomplete="list"
          aria-activedescendant={shown.length ? `${id}${at}` : undefined} value={text} onChange={change} onKeyDown={keys}
          ref={field} maxLength={MOST} autoFocus={focused} data-search={search ? "" : undefined}
        />
      </div>
      {name && <input type="hidden" name={name} value={value ?? ""} />}
      {shown.length === 0 && none && (
        <div className={`none${isCurrent ? "" : " waiting"}`} role="status">{isCurrent ? none : "Searching…"}</div>
      )}
      <ul role="listbox" id={`${id}l`} aria-label={label} aria-busy={!isCurrent} ref={list} hidden={shown.length === 0}>
        {shown.map((item, i) => {
          const head = item.group && item.group !== group ? item.group : null;
          group = item.group;
          return [
            head && <li key={`g${head}`} className="group" role="presentation">{head}</li>,
            <li
              key={item.id} id={`${id}${i}`} role="option" aria-selected={i === at}
              aria-disabled={item.off ? true : undefined} data-active={i === at} data-chosen={item.id === value}
              data-old={isOld(item) || undefined} onMouseMove={() => at !== i && move(i)}
              onMouseDown={(event) => event.preventDefault()} onClick={() => pick(item)}
            >
              {item.depth > 0 && <span style={{ width: `${18 * item.depth}px`, flex: "none" }} />}
              {item.mark && <span className="logo sm" aria-hidden="true">{item.mark}</span>}
              <span className="grow">
                <span className="label-text trunc" style={{ display: "block" }}>{item.label}</span>
                {item.sub && <span className="muted small trunc" style={{ display: "block" }}>{item.sub}</span>}
              </span>
              {item.hint && <span className="muted small num">{item.hint}</span>}
              {item.keys?.length > 0 && (
                <span className="row tight">{item.keys.map((key) => <kbd key={key} className="kbd">{key}</kbd>)}</span>
              )}
              {item.id === value && <Check size={14} aria-hidden="true" color="var(--info-i)" />}
              {item.id === value && <span className="sr">current</span>}
            </li>,
          ];
        })}
      </ul>
    </div>
  );
}
