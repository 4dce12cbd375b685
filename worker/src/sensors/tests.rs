//! Sensors of small worlds against closed forms.
