// What the page must know without being told: that nobody answers any more.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
    goodharts: {
        // polls: how often the page has asked; answered: which of these was answered last.
        lost(polls, answered, isOver) {
            if ((polls || 0) - answered < 4) {
                return [true, ""];
            }
            return [false, isOver
                ? "Training is over; this page shows how it ended."
                : "Disconnected: training does not answer. Its terminal says how it ended."];
        },
    },
});
