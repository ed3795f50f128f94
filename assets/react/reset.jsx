/* The progress of a reset, above everything else: the page below belongs to an organization that is being deleted. It is
   no part of that page, which the restarting server may replace; at the end the browser leaves for the sign-in page. */
import { useEffect } from "react";

const PAUSE = 1000;
const RESTARTING = "The server restarts.";
const HELP = "The sign-in page opens by itself. If this takes more than two minutes, read the server's log.";

let shown = null;

/* How far the demo is; null while the server does not answer. A server without this route offers no demo to wait for. */
const read = async () => {
  try {
    const answer = await fetch("/v1/demo", { cache: "no-store" });
    if (answer.status === 404) return { is_ready: true };
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
};

const element = (tag, props, ...children) => {
  const made = Object.assign(document.createElement(tag), props);
  made.append(...children);
  return made;
};

const open = () => {
  const words = element("p", { role: "status" }, RESTARTING);
  const done = element("i");
  const bar = element("div", { className: "bar", ariaHidden: "true" }, done);
  const title = element("h2", { className: "title-3", id: "reset-title" }, "Resetting the devnet");
  const page = element("dialog", { className: "reset" }, title, words, bar, element("p", { className: "muted small" }, HELP));
  page.setAttribute("aria-labelledby", "reset-title");
  page.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(page);
  page.showModal();
  return { page, words, done, wasAway: false };
};

const follow = async (one) => {
  while (shown === one) {
    const demo = await read();
    one.wasAway ||= !demo?.is_ready;
    if (demo?.is_ready && one.wasAway) {
      localStorage.removeItem("signum_tour"); // the tour's organization is deleted
      window.location.replace("/sign-in");
      return;
    }
    const said = demo && !demo.is_ready ? `Creating the demo: ${demo.doing}, ${demo.percent}%` : RESTARTING;
    if (one.words.textContent !== said) one.words.textContent = said;
    one.done.style.width = `${demo && !demo.is_ready ? demo.percent : 0}%`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
};

export function Reset({ started = false }) {
  useEffect(() => {
    if (started && !shown) follow((shown = open()));
    if (!started && shown && !shown.wasAway) { // the reset was refused
      shown.page.remove();
      shown = null;
    }
  }, [started]);
  return null;
}
