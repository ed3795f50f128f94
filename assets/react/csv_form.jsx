/* A list as text or a file, sent unchanged to our own API: a list may exceed the message limit of the page's socket. */
import { useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";

const SHOWN = 8;
/* Milliseconds for which a press stays valid while the server has not yet set the URL for the list. */
const PATIENCE = 15000;

/* The file if one is chosen, else the text; null without either. */
function chosen(form) {
  const data = new FormData(form);
  const file = data.get("file");
  if (file?.size) return file;
  const text = data.get("list") ?? "";
  return text.trim() ? text : null;
}

async function post(url, body, key) {
  const headers = { "content-type": "text/csv", ...(key ? { "idempotency-key": key } : {}) };
  const answer = await fetch(url, { method: "POST", body, headers, credentials: "same-origin" });
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  const findings = (told.errors ?? []).map((error) => error.detail);
  throw { words: told.detail || "The upload failed. Try again.", findings };
}

export function CsvForm({ action, further = "", isUnusable = false, most = 0, label, example, what, hint, fileHint, missing, word, actions, onChecked, onMade }) {
  const form = useRef(null);
  const id = useId();
  const [place, setPlace] = useState(null);
  useEffect(() => {
    // The place may come with the result of the check.
    const found = actions ? document.getElementById(actions) : null;
    if (found !== place) setPlace(found);
  });
  const key = useRef("");
  const [busy, setBusy] = useState(false);
  const [checked, setChecked] = useState(false);
  const [problem, setProblem] = useState(null);
  const forget = () => {
    setChecked(false);
    setProblem(null);
  };
  const pressed = useRef(-PATIENCE);
  useEffect(() => {
    forget();
    const waits = performance.now() - pressed.current < PATIENCE && chosen(form.current) !== null;
    if (action && waits) form.current.requestSubmit();
  }, [action]);
  const submit = async (event) => {
    event.preventDefault();
    const body = chosen(form.current);
    pressed.current = action ? -PATIENCE : performance.now();
    if (!action) return setProblem({ words: missing, findings: [] });
    if (body === null) return setProblem({ words: "Paste a list, or choose a file that is not empty.", findings: [] });
    if (most && body.size > most) return setProblem({ words: `The file is larger than ${most / 1048576} MB.`, findings: [] });
    setBusy(true);
    setProblem(null);
    try {
      if (checked) {
        const made = await post(`${action}${further}`, body, key.current);
        onMade?.(made.id ?? JSON.stringify(made));
      } else {
        const plan = await post(`${action}&dry_run=true`, body);
        // One key per checked list, so that a second press creates nothing twice.
        key.current = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
        onChecked?.(JSON.stringify(plan));
        setChecked(true);
      }
    } catch (error) {
      setProblem(error.words ? error : { words: "The server cannot be reached.", findings: [] });
      setChecked(false);
    }
    setBusy(false);
  };
  const findings = problem?.findings ?? [];
  const button = (
    <button type="submit" form={id} className="btn primary" disabled={busy || (checked && isUnusable)} aria-busy={busy}>
      {busy && <LoaderCircle size={14} className="spin" aria-hidden="true" />}
      {checked ? word : "Check the list"}
    </button>
  );
  return (
    <form ref={form} id={id} className="form" aria-label={label} onSubmit={submit} onChange={forget}>
      <div className="field">
        <label className="label" htmlFor="csv-list">{what}</label>
        <textarea id="csv-list" name="list" className="input mono csv-list" rows={8} spellCheck={false} placeholder={example} aria-describedby="csv-hint" />
        <div className="hint" id="csv-hint">{hint}</div>
      </div>
      <div className="field">
        <label className="label" htmlFor="csv-file">Or a CSV file<span className="optional">optional</span></label>
        <input id="csv-file" type="file" name="file" className="input" accept=".csv,.txt,text/csv,text/plain" aria-describedby="csv-file-hint" />
        <div className="hint" id="csv-file-hint">The file replaces the text. Up to {most / 1048576} MB{fileHint}.</div>
      </div>
      {problem && (
        <div className="note bad csv-problem" role="alert">
          <CircleX size={15} aria-hidden="true" />
          <div>
            {problem.words}
            {findings.length > 0 && <ul>{findings.slice(0, SHOWN).map((words) => <li key={words}>{words}</li>)}</ul>}
            {findings.length > SHOWN && <span>and {findings.length - SHOWN} more</span>}
          </div>
        </div>
      )}
      {place ? createPortal(button, place) : <div className="row">{button}</div>}
    </form>
  );
}
