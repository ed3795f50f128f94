/* Asks for the next change again and again, as long as the page is visible: `turn` changes with each answer. */
import { useEffect } from "react";

export function Live({ turn, onTurn }) {
  useEffect(() => {
    if (!document.hidden) {
      onTurn?.();
      return undefined;
    }
    const shown = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", shown);
      onTurn?.();
    };
    document.addEventListener("visibilitychange", shown);
    return () => document.removeEventListener("visibilitychange", shown);
  }, [turn]);
  return null;
}
