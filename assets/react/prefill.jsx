/* Fills in a field with what the server offers, also while the page is open. */
import { useEffect, useRef } from "react";

/* Writes `text` into the field again whenever `times` grows. What someone has begun to type stays. */
export function Prefill({ input, text, times }) {
  const offered = useRef("");
  useEffect(() => {
    const field = document.getElementById(input);
    const isTyped = document.activeElement === field && field?.value !== offered.current;
    offered.current = text;
    if (!field || isTyped) return;
    field.value = text;
    if (document.activeElement === field) field.select(); // what is typed next replaces it
  }, [times]);
  return null;
}
