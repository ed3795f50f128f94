/* Native dialogs of the shell (navigation on phones, palette) and the keyboard shortcuts of the console. */
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "react-router";
import X from "lucide-react/dist/esm/icons/x.mjs";
import { Picker } from "$/public/react/picker.jsx";

function useNative(open, onOpen) {
  const ref = useRef(null);
  const { pathname } = useLocation();
  const latest = useRef(onOpen);
  useEffect(() => {
    latest.current = onOpen;
  });
  useEffect(() => {
    ref.current?.close();
  }, [pathname]);
  useEffect(() => {
    const toggle = (event) => {
      if (event.detail !== open) return;
      if (ref.current?.open) {
        ref.current.close();
        return;
      }
      latest.current?.();
      ref.current?.showModal();
      ref.current?.querySelector("[role=combobox]")?.focus();
    };
    window.addEventListener("signum:open", toggle);
    return () => window.removeEventListener("signum:open", toggle);
  }, [open]);
  return ref;
}
const outside = (ref) => (event) => {
  if (event.target === ref.current) ref.current.close();
};
export const open = (name) => window.dispatchEvent(new CustomEvent("signum:open", { detail: name }));

export function OpenButton({ target, children, className, label }) {
  return (
    <button type="button" className={className} aria-label={label} aria-haspopup="dialog" onClick={() => open(target)}>
      {children}
    </button>
  );
}

export function Sheet({ name, label, children }) {
  const ref = useNative(name);
  return (
    <dialog ref={ref} className="sheet" aria-label={label} onClick={outside(ref)}>
      {children}
      <button type="button" className="icon-btn sheet-close" aria-label="Close navigation" onClick={() => ref.current?.close()}>
        <X size={18} aria-hidden="true" />
      </button>
    </dialog>
  );
}

export function Palette({ pages = [], found = [], foundFor, onSearch }) {
  /* Each time it opens with a new field: without the earlier text, however it was closed. */
  const [times, setTimes] = useState(0);
  const ref = useNative("palette", () => {
    flushSync(() => setTimes((before) => before + 1));
    onSearch?.("");
  });
  const items = [...pages.filter((page) => !page.off).map((page) => ({ ...page, local: true })), ...found];
  return (
    <dialog ref={ref} className="palette" aria-label="Search or jump to" onClick={outside(ref)}>
      <Picker key={times} items={items} foundFor={foundFor} onSearch={onSearch} onDone={() => ref.current?.close()} label="Search or jump to"
        placeholder="Page, name, address, transaction" none="Nothing of that name" />
    </dialog>
  );
}

const typing = (target) => target.closest?.("input, textarea, select, [contenteditable=true], [role=combobox]");
const busy = () => document.querySelector("[role=dialog][data-state=open], [role=alertdialog], dialog[open]");

/* A click on a link removes its page and the focus with it: move the focus to the content of the new page. */
let arrived = false;
const takeUp = () => {
  if (arrived && document.activeElement === document.body) {
    document.getElementById("main")?.focus({ preventScroll: true });
  }
  arrived = true;
};

/* Braces keep the result out of React: in newer browsers it is a promise, not a cleanup function. */
const showPlace = () => {
  document.querySelector(".side [aria-current=page]")?.scrollIntoView({ block: "nearest" });
};

/* Width of the edge at which a strip fades, in pixels. */
const FADE = 32;

/* A tab or filter that is selected outside its strip's view, or left there by a narrower window, is scrolled into it; the
   page does not move. */
const followChoice = () => {
  const chosen = "[role=tab][aria-selected=true], .filter[aria-pressed=true]";
  const show = (target) => {
    const strip = target.closest(".scroll-x, .filters");
    if (!strip || strip.scrollWidth <= strip.clientWidth) return;
    const from = strip.getBoundingClientRect(), to = target.getBoundingClientRect();
    if (to.left < from.left + FADE || to.right > from.right - FADE) strip.scrollBy({ left: to.left + to.width / 2 - from.left - from.width / 2 });
  };
  const showAll = () => document.querySelectorAll(chosen).forEach(show);
  showAll();
  window.addEventListener("resize", showAll);
  const seen = new MutationObserver((changes) => {
    for (const { target } of changes) if (target.matches(chosen)) show(target);
  });
  seen.observe(document.body, { subtree: true, attributeFilter: ["aria-selected", "aria-pressed"] });
  return () => {
    seen.disconnect();
    window.removeEventListener("resize", showAll);
  };
};

/* `/` searches, `g` and a letter open a page, `?` lists the shortcuts, Cmd-K or Ctrl-K opens the palette. */
export function Keys() {
  useEffect(takeUp, []);
  useEffect(showPlace, []);
  useEffect(followChoice, []);
  useEffect(() => {
    let going = 0;
    const down = (event) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open("palette");
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || busy()) return;
      if (going && Date.now() - going < 1500) {
        going = 0;
        const link = document.querySelector(`.side a[data-go="${CSS.escape(event.key.toLowerCase())}"]`);
        if (link) {
          event.preventDefault();
          link.click();
        }
        return;
      }
      if (event.key === "g") going = Date.now();
      else if (event.key === "?") document.querySelector("[data-keys]")?.click();
      else if (event.key === "/") {
        event.preventDefault();
        const field = [...document.querySelectorAll("[data-search]")].find((element) => element.offsetParent);
        field ? field.focus() : open("palette");
      }
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, []);
  return null;
}
