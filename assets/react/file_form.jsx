/* A form that sends one file to our own API. The browser adds the session cookie and the Origin, as on every page of ours. */
import { useRef, useState } from "react";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";
import Upload from "lucide-react/dist/esm/icons/upload.mjs";

async function send(url, file) {
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(url, { method: "POST", body: file, headers, credentials: "same-origin" });
  if (answer.ok) return "";
  const problem = await answer.json().catch(() => ({}));
  return problem.detail || "The upload failed. Try again.";
}

export function FileForm({ action, kinds = [], accept, most = 0, label, onSent }) {
  const form = useRef(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const data = new FormData(form.current);
    const file = data.get("file");
    if (!file?.size) return setProblem("Choose a file that is not empty.");
    if (most && file.size > most) return setProblem(`The file is larger than ${Math.floor(most / 1048576)} MB.`);
    setBusy(true);
    setProblem("");
    const query = new URLSearchParams({ kind: data.get("kind"), name: file.name.slice(-120) });
    const words = await send(`${action}${action.includes("?") ? "&" : "?"}${query}`, file).catch(() => "The server cannot be reached.");
    setBusy(false);
    setProblem(words);
    if (words) return undefined;
    form.current?.reset();
    return onSent?.();
  };
  const Sign = busy ? LoaderCircle : Upload;
  return (
    <form ref={form} className="file-form" aria-label={label} onSubmit={submit}>
      <select name="kind" className="input" aria-label="What it proves" required defaultValue="">
        <option value="" disabled>Choose a kind</option>
        {kinds.map((kind) => <option key={kind.value} value={kind.value}>{kind.label}</option>)}
      </select>
      <input type="file" name="file" className="input" accept={accept} aria-label="File" required />
      <button type="submit" className="btn small" disabled={busy} aria-busy={busy}>
        <Sign size={14} className={busy ? "spin" : ""} aria-hidden="true" />
        Upload
      </button>
      {problem && <div className="error" role="alert"><CircleX size={13} aria-hidden="true" />{problem}</div>}
    </form>
  );
}
