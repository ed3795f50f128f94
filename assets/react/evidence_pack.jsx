/* The pack of the page: made by our own API when the person asks for it, or chosen from a file. This tab keeps it in its
   memory, so what the page shows, verifies, downloads and prints is one and the same archive. */
import { useCallback, useEffect, useRef, useState } from "react";
import Download from "lucide-react/dist/esm/icons/download.mjs";
import FilePlus2 from "lucide-react/dist/esm/icons/file-plus-2.mjs";
import FileText from "lucide-react/dist/esm/icons/file-text.mjs";
import FolderOpen from "lucide-react/dist/esm/icons/folder-open.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";
import RotateCw from "lucide-react/dist/esm/icons/rotate-cw.mjs";
import ShieldCheck from "lucide-react/dist/esm/icons/shield-check.mjs";

/* Characters of one message of the page's socket. */
const MESSAGE = 900000;

async function problem(answer) {
  const told = await answer.json().catch(() => ({}));
  return { words: told.detail || told.title || "The request failed. Try again.", status: answer.status };
}

async function post(url, body, signal) {
  const headers = { "content-type": "application/zip" };
  const answer = await fetch(url, { method: "POST", body, headers, credentials: "same-origin", signal });
  if (!answer.ok) throw await problem(answer);
  return answer;
}

async function made(path, signal) {
  const answer = await fetch(path, { credentials: "same-origin", signal });
  if (!answer.ok) throw await problem(answer);
  return { blob: await answer.blob(), name: nameOf(answer) };
}

function nameOf(answer) {
  return /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1] ?? "evidence.zip";
}

/* JSON that fits into a message: of long lists, the first records. Their counts stay. */
function fitting(told) {
  let most = 200;
  const cut = () => ({
    ...told,
    ...(told.sections && { sections: told.sections.map((one) => ({ ...one, rows: one.rows.slice(0, most) })) }),
    ...(told.checks && { checks: told.checks.slice(0, 5 * most) }),
  });
  let text = JSON.stringify(cut());
  while (text.length > MESSAGE && most > 1) {
    most = Math.floor(most / 2);
    text = JSON.stringify(cut());
  }
  return text;
}

function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const wordsOf = (error) => error.words ?? "The server cannot be reached.";

/* The last pack that was made in this tab, for another visit of the page; and the function that makes one. */
const kept = { of: "", pack: null };
const maker = { current: null };

/* The button of a page without a pack. */
export function CreatePack() {
  return (
    <button type="button" className="btn primary" onClick={() => maker.current?.()}>
      <FilePlus2 size={15} aria-hidden="true" />Create evidence pack
    </button>
  );
}

export function EvidencePack({ path, most = 0, owner = "", onRest, onBegin, onRead, onVerified, onRefused }) {
  const [pack, setPack] = useState(null);
  const [busy, setBusy] = useState("");
  const input = useRef(null);
  const current = useRef(null);
  const making = useRef(false);
  const of = `${owner} ${path}`;

  const open = useCallback(async (source, isReceived) => {
    current.current?.abort();
    const control = new AbortController();
    current.current = control;
    setBusy("read");
    try {
      const found = await source(control.signal);
      const answer = await post(`${path}/contents`, found.blob, control.signal);
      const text = fitting(await answer.json());
      setPack(found);
      if (!isReceived) Object.assign(kept, { of, pack: found });
      onRead?.(text, isReceived ? found.name.slice(-120) : "");
    } catch (error) {
      if (control.signal.aborted) return;
      onRefused?.(wordsOf(error));
    }
    setBusy("");
  }, [path, of]);
  const make = useCallback(() => {
    if (making.current) return;
    making.current = true;
    onBegin?.();
    open((signal) => made(path, signal), false).finally(() => { making.current = false; });
  }, [path, open]);
  useEffect(() => {
    maker.current = make;
    if (kept.of === of) open(async () => kept.pack, false);
    else onRest?.();
    return () => {
      maker.current = null;
      current.current?.abort();
    };
  }, [make]);

  const chosen = (event) => {
    const file = event.target.files[0];
    event.target.value = "";
    if (!file) return;
    if (most && file.size > most) {
      onRefused?.(`The file is larger than ${Math.floor(most / 1048576)} MB, which no pack is that can be opened here.`);
      return;
    }
    open(async () => ({ blob: file, name: file.name }), true);
  };
  const act = async (name, work) => {
    setBusy(name);
    try {
      await work();
    } catch (error) {
      onRefused?.(wordsOf(error));
    }
    setBusy("");
  };
  const verify = () => act("verify", async () => {
    const answer = await post(`${path}/verification`, pack.blob);
    onVerified?.(fitting(await answer.json()));
  });
  const print = () => act("print", async () => {
    const answer = await post(`${path}/report`, pack.blob);
    save(await answer.blob(), nameOf(answer));
  });
  const off = busy !== "";
  const icon = (name, Sign) => (busy === name ? <LoaderCircle size={15} className="spin" aria-hidden="true" /> : <Sign size={15} aria-hidden="true" />);
  return (
    <>
      <input ref={input} type="file" hidden accept=".zip,application/zip" aria-label="Pack" onChange={chosen} />
      <button type="button" className="btn" disabled={busy !== ""} onClick={() => input.current.click()}>
        <FolderOpen size={15} aria-hidden="true" />Open received pack
      </button>
      {pack !== null && (
        <>
          <button type="button" className="btn" disabled={busy !== ""} onClick={make}>
            <RotateCw size={15} aria-hidden="true" />New pack
          </button>
          <button type="button" className="btn" disabled={off} onClick={() => save(pack.blob, pack.name)}>
            <Download size={15} aria-hidden="true" />Download archive
          </button>
          <button type="button" className="btn" disabled={off} aria-busy={busy === "print"} onClick={print}>
            {icon("print", FileText)}Download PDF
          </button>
          <button type="button" className="btn primary" disabled={off} aria-busy={busy === "verify"} onClick={verify}>
            {icon("verify", ShieldCheck)}Verify
          </button>
        </>
      )}
    </>
  );
}
