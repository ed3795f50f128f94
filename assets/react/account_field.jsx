/* A field for an account: found by name or label and chosen from a list, or an address that is pasted. What the form sends
   is the address. Items: {id, label, sub, short, hint, note, tone, known, off}; `foundFor` is the text that they were found
   for. `resolved` has the item of each entered address, exactly as it was entered: the same digits in other cases can have
   a wrong checksum. One that is not known has to be confirmed, unless `free`. A refused one is sent as it is, so that the
   form says what is wrong with it. The list
   opens on a click, a key or a text, not on focus: a dialog that has just opened focuses its first field. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import Check from "lucide-react/dist/esm/icons/check.mjs";
import { useHighlight } from "$/public/react/highlight.jsx";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/* Shows the list over everything, so that a dialog neither cuts nor scrolls it: below its field, or above if there is more room. */
function float(field, list) {
  const place = () => {
    const { left, top, bottom, width } = field.getBoundingClientRect();
    const below = window.innerHeight - bottom - 12;
    const isAbove = below < 160 && top > below;
    list.style.width = `${width}px`;
    list.style.left = `${left}px`;
    list.style.maxHeight = `${Math.min(264, isAbove ? top - 12 : below)}px`;
    list.style.top = isAbove ? "auto" : `${bottom + 4}px`;
    list.style.bottom = isAbove ? `${window.innerHeight - top + 4}px` : "auto";
  };
  list.showPopover();
  place();
  // A dialog that is just opening still moves.
  document.addEventListener("animationend", place, true);
  window.addEventListener("scroll", place, true);
  window.addEventListener("resize", place);
  return () => {
    document.removeEventListener("animationend", place, true);
    window.removeEventListener("scroll", place, true);
    window.removeEventListener("resize", place);
    if (list.isConnected) list.hidePopover();
  };
}

export function AccountField({
  id, name, items = [], foundFor, active, resolved = {}, onSearch, onResolve, onPick, placeholder, free = false, invalid = false,
  describedBy, required = false, focused = false,
}) {
  const listId = useId();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(null);
  const [open, setOpen] = useState(false);
  const [rest, setRest] = useState(0);
  const wait = useRef();
  const list = useRef(null);
  const field = useRef(null);
  useEffect(() => () => clearTimeout(wait.current), []);
  const typed = text.trim();
  const isAddress = ADDRESS.test(typed);
  const shown = open && active === id && !isAddress ? items : [];
  const isCurrent = active === id && (Boolean(chosen) || foundFor === typed);
  const entered = isAddress ? resolved[typed] : undefined;
  const doubted = entered && !entered.known && (!free || entered.off) ? entered : undefined;

  const take = (item) => {
    if (!item || item.off) return;
    clearTimeout(wait.current);
    setChosen(item);
    setOpen(false);
    onPick?.(item.id);
  };
  const pick = (item) => {
    if (!item || item.off) return;
    setText(item.known ? item.label : item.id);
    take(item);
  };
  const { at, move, enter: choose } = useHighlight({ items: shown, isCurrent, isOld: () => !isCurrent, rest, field, pick });
  useEffect(() => {
    if (entered && !chosen && !doubted) take(entered);
  }, [entered, chosen]);
  useEffect(() => {
    list.current?.querySelector("[data-active=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  useLayoutEffect(() => {
    if (shown.length > 0) return float(field.current, list.current);
  }, [shown.length > 0, shown]);

  const change = (event) => {
    const next = event.target.value;
    setText(next);
    setChosen(null);
    setOpen(true);
    setRest(free ? -1 : 0);
    move(null);
    clearTimeout(wait.current);
    const words = next.trim();
    const ask = () => {
      onPick?.(ADDRESS.test(words) ? "" : words);
      (ADDRESS.test(words) ? onResolve : onSearch)?.(words);
    };
    if (ADDRESS.test(words)) ask();
    else wait.current = setTimeout(ask, 180);
  };
  const enter = () => {
    if (open) return;
    setOpen(true);
    setRest(-1);
    move(null);
    if (!chosen && !isAddress) onSearch?.(typed);
  };
  const awaits = open && typed && !isAddress && !isCurrent && at >= 0;
  const keys = (event) => {
    const last = shown.length - 1;
    const to = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1) }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (open) move(to);
      else enter();
    } else if (event.key === "Enter" && (shown[at] || awaits)) {
      event.preventDefault();
      choose();
    } else if (event.key === "Escape" && shown.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };
  const value = chosen ? chosen.id : doubted && !doubted.off ? "" : typed;

  return (
    <div className="account-field">
      <input
        id={id} ref={field} className={`input${isAddress ? " mono" : ""}`} type="text" role="combobox" autoComplete="off" spellCheck="false"
        placeholder={placeholder} aria-expanded={shown.length > 0} aria-controls={`${listId}l`} aria-autocomplete="list"
        aria-activedescendant={shown[at] ? `${listId}${at}` : undefined} aria-invalid={invalid ? "true" : undefined}
        aria-describedby={[describedBy, `${listId}c`].filter(Boolean).join(" ")} aria-required={required || undefined}
        value={text} onChange={change} onKeyDown={keys} onClick={enter} onBlur={() => setOpen(false)}
        maxLength={100} autoFocus={focused} data-unset={required && !chosen && !(isAddress && free) ? "" : undefined}
      />
      <input type="hidden" name={name} value={value} />
      <ul role="listbox" id={`${listId}l`} aria-label="Accounts" ref={list} popover="manual" hidden={shown.length === 0} aria-busy={!isCurrent}>
        {shown.map((item, i) => (
          <li
            key={item.id} id={`${listId}${i}`} role="option" aria-selected={chosen?.id === item.id}
            aria-disabled={item.off ? true : undefined} data-active={i === at} data-old={!isCurrent || undefined}
            onMouseMove={() => at !== i && move(i)} onMouseDown={(event) => event.preventDefault()} onClick={() => pick(item)}
          >
            <span className="grow">
              <span className="label-text trunc">{item.label}</span>
              <span className="muted small trunc">{item.sub}</span>
            </span>
            <span className="facts small">
              {item.hint && <span className="num">{item.hint}</span>}
              {item.note && <span className={`${item.tone}-text`}>{item.note}</span>}
            </span>
            {chosen?.id === item.id && <Check size={14} aria-hidden="true" color="var(--info-i)" />}
          </li>
        ))}
      </ul>
      <div className="hint chosen" id={`${listId}c`} role="status">
        {chosen?.known && <span className={isAddress ? "" : "mono"}>{isAddress ? chosen.label : chosen.short}</span>}
        {chosen?.hint && <span>{chosen.hint}</span>}
        {(chosen ?? doubted)?.note && <span className={`${(chosen ?? doubted).tone}-text`}>{(chosen ?? doubted).note}</span>}
        {doubted && !chosen && !doubted.off && (
          <button type="button" className="link" onClick={() => take(doubted)}>Use this address</button>
        )}
      </div>
    </div>
  );
}
