/* Toasts from the backend. Reflex sends its own as JavaScript to eval, which our CSP forbids. */
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import CircleCheck from "lucide-react/dist/esm/icons/circle-check.mjs";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import Info from "lucide-react/dist/esm/icons/info.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";
import TriangleAlert from "lucide-react/dist/esm/icons/triangle-alert.mjs";
import X from "lucide-react/dist/esm/icons/x.mjs";

const ICONS = { ok: CircleCheck, bad: CircleX, warn: TriangleAlert, info: Info, busy: LoaderCircle };

function Notice({ item, close, undo }) {
  const held = useRef(false);
  const [late, setLate] = useState(false);
  /* The toast of a running request stays until its result replaces it, for two minutes at most. */
  const awaits = Boolean(item.request_id) && !late;
  const tone = late && item.request_id ? "info" : item.tone;
  useEffect(() => {
    let left = awaits ? 120 : tone === "bad" ? 14 : item.undo ? 10 : 7;
    const timer = setInterval(() => {
      if (held.current || --left > 0) return;
      awaits ? setLate(true) : close(item.id);
    }, 1000);
    return () => clearInterval(timer);
  }, [item.id, tone, awaits]);
  const Icon = ICONS[tone] || Info;
  const hold = (value) => () => {
    held.current = value;
  };
  return (
    <div
      className={`notice ${tone === "busy" ? "info" : tone}`}
      role={tone === "bad" ? "alert" : undefined}
      onMouseEnter={hold(true)} onMouseLeave={hold(false)} onFocus={hold(true)} onBlur={hold(false)}
    >
      <Icon size={16} aria-hidden="true" className={tone === "busy" ? "spin" : ""} />
      <div className="grow">
        <div>{late && item.request_id ? `Still running: ${item.title}` : item.title}</div>
        {item.detail && <div className="muted small">{item.detail}</div>}
      </div>
      {item.href && <Link className="link" to={item.href} onClick={() => close(item.id)}>{item.link || "View"}</Link>}
      {item.undo && (
        <button type="button" className="link" aria-label={`${item.undo}: ${item.title}`} onClick={() => undo(item.id)}>{item.undo}</button>
      )}
      <button type="button" className="icon-btn small" aria-label={`Dismiss: ${item.title}`} onClick={() => close(item.id)}>
        <X size={15} aria-hidden="true" />
      </button>
    </div>
  );
}

export function Notices({ items = [], onClose, onUndo }) {
  return (
    <div className="notices" role="status" aria-live="polite" aria-label="Notices">
      {items.map((item) => <Notice key={item.id} item={item} close={onClose} undo={onUndo} />)}
    </div>
  );
}
