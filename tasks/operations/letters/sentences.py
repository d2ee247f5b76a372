"""What the check-in reminder says, in each language: plain data.

Names and dates stand where no article or case depends on them, so that any hotel's name fits. No sentence says how many
days are left: the letter may be sent on any of them.
"""

#: language -> sentence -> its words. A row of the table is named like the value that it announces.
SENTENCES: dict[str, dict[str, str]] = {
    "en": {
        "subject": "{hotel}: your arrival on {arrival}",
        "greeting": "Dear {guest},",
        "opening": "Your stay is coming up, and we look forward to welcoming you. Here it is at a glance:",
        "hotel": "Hotel:",
        "arrival": "Arrival:",
        "departure": "Departure:",
        "room": "Room:",
        "number": "Reservation number:",
        "change": "If anything has changed, please let us know as soon as you can and mention your reservation number.",
        "farewell": "Have a safe journey, and see you soon!",
        "regards": "Kind regards",
    },
    "de": {
        "subject": "{hotel}: Ihre Anreise am {arrival}",
        "greeting": "Guten Tag {guest},",
        "opening": "bald ist es so weit, und wir freuen uns auf Ihren Besuch. Ihr Aufenthalt auf einen Blick:",
        "hotel": "Hotel:",
        "arrival": "Anreise:",
        "departure": "Abreise:",
        "room": "Zimmer:",
        "number": "Reservierungsnummer:",
        "change": "Falls sich etwas geändert hat, geben Sie uns bitte möglichst bald Bescheid und nennen Sie dabei "
        "Ihre Reservierungsnummer.",
        "farewell": "Wir wünschen Ihnen eine gute Anreise. Bis bald!",
        "regards": "Mit freundlichen Grüßen",
    },
    "fr": {
        "subject": "{hotel}\u00a0: votre arrivée le {arrival}",
        "greeting": "Bonjour {guest},",
        "opening": "Votre séjour approche et nous nous réjouissons de vous accueillir. En voici les détails\u00a0:",
        "hotel": "Hôtel\u00a0:",
        "arrival": "Arrivée\u00a0:",
        "departure": "Départ\u00a0:",
        "room": "Chambre\u00a0:",
        "number": "Numéro de réservation\u00a0:",
        "change": "Si quelque chose a changé, merci de nous prévenir dès que possible en indiquant votre numéro de "
        "réservation.",
        "farewell": "Nous vous souhaitons un excellent voyage. À bientôt\u00a0!",
        "regards": "Cordialement",
    },
    "es": {
        "subject": "{hotel}: su llegada el {arrival}",
        "greeting": "Hola, {guest}:",
        "opening": "Su estancia se acerca y estamos deseando darle la bienvenida. Aquí tiene los datos principales:",
        "hotel": "Hotel:",
        "arrival": "Llegada:",
        "departure": "Salida:",
        "room": "Habitación:",
        "number": "Número de reserva:",
        "change": "Si algo ha cambiado, avísenos lo antes posible e indique su número de reserva.",
        "farewell": "Le deseamos un buen viaje. ¡Hasta pronto!",
        "regards": "Un cordial saludo",
    },
    "it": {
        "subject": "{hotel}: il suo arrivo, {arrival}",
        "greeting": "Gentile {guest},",
        "opening": "il suo soggiorno si avvicina e non vediamo l\u2019ora di accoglierla. Ecco i dati principali:",
        "hotel": "Hotel:",
        "arrival": "Arrivo:",
        "departure": "Partenza:",
        "room": "Camera:",
        "number": "Numero di prenotazione:",
        "change": "Se qualcosa è cambiato, ci avvisi appena possibile indicando il numero di prenotazione.",
        "farewell": "Le auguriamo buon viaggio. A presto!",
        "regards": "Cordiali saluti",
    },
}
